import{Lb as i,b as o,c as r,o as e,p as m,q as t,qa as f,r as p}from"./chunk-42xskomk.js";t(m());p();e();r();var d=document.getElementById("console");d&&o(f(i,{}),d);
