import{$a as i,Va as m,Ya as e,Za as t,_a as f,b as o,ia as r}from"./chunk-e4lrnsar.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
