import{b as o,gb as m,jb as e,kb as t,lb as f,mb as i,qa as r}from"./chunk-4rbaxyhz.js";t(e());f();m();var p=document.getElementById("console");p&&o(r(i,{}),p);
