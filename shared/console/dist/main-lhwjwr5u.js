import{La as p,Oc as f,b as o,c as r,o as m,p as e,q as t,r as i}from"./chunk-cnytqxgj.js";t(e());i();m();r();var d=document.getElementById("console");d&&o(p(f,{}),d);
