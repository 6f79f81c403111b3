import{Ib as i,b as o,c as r,o as e,p as m,pa as f,q as t,r as p}from"./chunk-g3a3psu5.js";t(m());p();e();r();var d=document.getElementById("console");d&&o(f(i,{}),d);
