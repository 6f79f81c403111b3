import{La as p,Mc as f,b as o,c as r,o as m,p as e,q as t,r as i}from"./chunk-na66gzbu.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
