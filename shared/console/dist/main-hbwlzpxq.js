import{b as o,na as r,qb as m,tb as e,ub as t,vb as f,wb as i}from"./chunk-56sfek2l.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
