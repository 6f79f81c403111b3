import{b as o,bd as f,c as r,p as m,q as e,r as t,s as i,ya as p}from"./chunk-2mdfppcy.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
