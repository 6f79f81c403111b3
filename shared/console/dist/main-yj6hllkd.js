import{b as o,c as r,o as m,p as e,q as t,r as i,ra as p,rc as f}from"./chunk-3vbpegxa.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
