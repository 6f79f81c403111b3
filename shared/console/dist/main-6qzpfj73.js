import{b as o,ib as m,lb as e,mb as t,nb as f,ob as i,ra as r}from"./chunk-efiwb3e3.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
