import{Lb as f,b as o,c as r,o as m,p as e,q as t,qa as p,r as i}from"./chunk-2zty4ath.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
