import{Gb as i,b as o,c as r,o as e,oa as f,p as m,q as t,r as p}from"./chunk-p7rdb6fq.js";t(m());p();e();r();var d=document.getElementById("console");d&&o(f(i,{}),d);
