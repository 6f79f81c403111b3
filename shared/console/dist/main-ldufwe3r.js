import{b as o,c as r,o as m,p as e,q as t,r as i,sa as p,tc as f}from"./chunk-g5t4jbc6.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
