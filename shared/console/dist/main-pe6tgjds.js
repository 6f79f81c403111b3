import{Xb as f,b as o,c as r,o as m,p as e,pa as p,q as t,r as i}from"./chunk-xzpoai2b.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
