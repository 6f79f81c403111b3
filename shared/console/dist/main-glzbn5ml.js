import{b as o,db as m,gb as e,hb as t,ib as f,jb as i,oa as r}from"./chunk-nom4gcpd.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
