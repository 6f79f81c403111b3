import{b as o,fb as m,ib as e,jb as t,kb as f,lb as i,oa as r}from"./chunk-avpx4zif.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
