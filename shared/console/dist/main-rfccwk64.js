import{b as o,cb as m,fb as e,gb as t,hb as f,ib as i,ma as r}from"./chunk-mnvh6g45.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
