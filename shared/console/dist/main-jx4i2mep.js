import{X as r,b as o,rb as e,ub as m,vb as t,wb as p,xb as f,yb as i}from"./chunk-2q2lro3k.js";t(m());p();e();f();var d=document.getElementById("console");d&&o(r(i,{}),d);
