import{$a as m,b as o,cb as e,db as t,eb as f,fb as i,ja as r}from"./chunk-h6sw4e2t.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
