import{$a as t,Xa as m,_a as e,ab as f,b as o,bb as i,ka as r}from"./chunk-deaoomba.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
