import{Sc as f,b as o,c as r,o as m,p as e,q as t,r as i,va as p}from"./chunk-xvgdcm7r.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
