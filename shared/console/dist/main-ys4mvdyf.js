import{b as o,mb as e,pb as m,qb as t,ra as r,rb as p,sb as f,tb as i}from"./chunk-sauiiko4.js";t(m());p();e();f();var d=document.getElementById("console");d&&o(r(i,{}),d);
