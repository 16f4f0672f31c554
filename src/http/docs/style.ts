/** The style sheet of the documentation page. The page's Content-Security-Policy contains its hash. */
export const STYLE = `:root{color-scheme:light dark;--line:light-dark(#d0d7de,#30363d);--soft:light-dark(#f6f8fa,#161b22);--link:light-dark(#0550ae,#79c0ff);--dim:light-dark(#57606a,#9da7b3)}
*{box-sizing:border-box}[hidden]{display:none!important}
body{margin:0;font:15px/1.6 system-ui,sans-serif;display:grid;grid-template-columns:17rem minmax(0,1fr);background:light-dark(#fff,#0d1117);color:light-dark(#1f2328,#e6edf3)}
a{color:var(--link)}nav a{text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--link);outline-offset:2px}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.2rem;border-right:1px solid var(--line);background:var(--soft)}
.skip{position:absolute;left:-99rem}.skip:focus{position:static}
nav .name{font-size:1.1rem;font-weight:700;margin:0 0 .8rem}nav .group{margin:.7rem 0 .1rem;font-weight:600}nav .group a::first-letter,h2::first-letter{text-transform:uppercase}nav .group a,nav summary{display:inline-block}nav summary{text-transform:capitalize}nav summary::before{content:"\\25B8\\00A0"}nav [open]>summary::before{content:"\\25BE\\00A0"}
nav details .group a{font-weight:400;font-size:.88rem;padding-left:.6rem}
nav input{width:100%;font:inherit;padding:.3rem .5rem;border:1px solid var(--dim);border-radius:6px;background:light-dark(#fff,#0d1117);color:inherit}
nav ul{list-style:none;margin:0;padding:0 0 0 .6rem;font-size:.88rem}nav li a{display:block;padding:.15rem 0;overflow-wrap:anywhere}nav b{font-size:.68rem}
main{padding:1.2rem 2.2rem 4rem;max-width:64rem}
h1{margin:0;font-size:1.7rem}h2{font-size:1.35rem;margin:0}h3{margin:1.1rem 0 .2rem;font-size:1.05rem}h4{margin:1rem 0 .3rem;font-size:.9rem}
p{margin:.4rem 0;max-width:46rem}small{color:var(--dim);font-size:.85em}
section{border-top:3px solid var(--line);padding:1.2rem 0;margin-top:1.2rem;scroll-margin-top:.5rem}
article{border-top:1px solid var(--line);padding:.8rem 0;scroll-margin-top:.5rem}article h3{margin:.2rem 0;display:inline-block}
summary{cursor:pointer}.endpoint>summary{list-style:none}.endpoint>summary::-webkit-details-marker{display:none}
.call{display:block;overflow-wrap:anywhere}.about{scroll-margin-top:5rem}
code,pre{font:.88em/1.5 ui-monospace,monospace}p code,.call code{overflow-wrap:anywhere}
pre{background:var(--soft);border:1px solid var(--line);border-radius:6px;padding:.7rem;margin:.4rem 0;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;table-layout:fixed;margin:.3rem 0}
td,th{border:1px solid var(--line);padding:.35rem .55rem;text-align:left;vertical-align:top}th{background:var(--soft);font-size:.85rem}
td{overflow-wrap:break-word}td code{overflow-wrap:normal}
.t3 th:nth-child(1){width:15.5rem}.t3 th:nth-child(2){width:11.5rem}.t2 th:nth-child(1){width:10rem}
#errors .t3 th:nth-child(1),#errors .t3 th:nth-child(2){width:4.5rem}
abbr{text-decoration:none;color:light-dark(#a40e26,#ff7b72);font-weight:700}
b.get{color:light-dark(#116329,#56d364)}b.post{color:light-dark(#0550ae,#79c0ff)}b.put{color:light-dark(#7d4e00,#e3b341)}
i{font-size:.75rem;border:1px solid var(--line);border-radius:9px;padding:0 .5rem;font-style:normal;font-weight:400}
.walk{padding-left:1.2rem}
@media(min-width:50.01rem){.endpoint::details-content{content-visibility:visible;display:block;height:auto}.endpoint>summary{cursor:default}}
@media(max-width:50rem){
body{grid-template-columns:minmax(0,1fr)}nav{position:static;height:auto;border-right:0;border-bottom:1px solid var(--line);padding:1rem}
nav details:not([open]){display:inline-block}nav .group{display:inline-block;margin:.1rem .9rem .1rem 0;line-height:2}main{padding:1rem}
.endpoint>summary{padding:.3rem 0}.endpoint>summary h3::before{content:"\\25B8\\00A0"}.endpoint[open]>summary h3::before{content:"\\25BE\\00A0"}
table,tbody,tr,td{display:block;width:auto}thead{position:absolute;left:-99rem}
tr{border:1px solid var(--line);padding:.4rem .6rem;margin-top:-1px}td{border:0;padding:0}.t3 td:nth-child(1){font-weight:600}.t3 td:nth-child(2){color:var(--dim)}}`;
