import{Pa as p,Tc as f,b as o,c as r,p as m,q as e,r as t,s as i}from"./chunk-xd6tnsew.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
