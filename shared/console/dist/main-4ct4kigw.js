import{X as r,b as o,sb as e,vb as m,wb as t,xb as p,yb as f,zb as i}from"./chunk-zvodfj74.js";t(m());p();e();f();var d=document.getElementById("console");d&&o(r(i,{}),d);
