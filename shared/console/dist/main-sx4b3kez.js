import{X as r,b as o,qb as e,tb as m,ub as t,vb as p,wb as f,xb as i}from"./chunk-hw7xp4ro.js";t(m());p();e();f();var d=document.getElementById("console");d&&o(r(i,{}),d);
