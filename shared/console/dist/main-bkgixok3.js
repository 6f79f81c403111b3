import{b as o,mb as m,pb as e,qb as t,ra as r,rb as f,sb as i}from"./chunk-xohdvytn.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
