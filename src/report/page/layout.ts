import { type Content, Html, html } from './html.ts'

/** A part of a page that the list at its top leads to. */
export interface PagePart {
  readonly id: string
  readonly title: string
  readonly content: Content
}

/** Links to the parts of a page; nothing where there is one part. */
export function contents(parts: readonly PagePart[]): Content {
  if (parts.length < 2) return undefined
  const items = parts.map(({ id, title }) => html`<li><a href="#${id}">${title}</a></li>`)
  return html`<nav aria-label="On this page"><ul class="toc">${items}</ul></nav>`
}

/** A part with its heading. */
export function section({ id, title, content }: PagePart): Html {
  return html`<section aria-labelledby="${id}">\n<h2 id="${id}">${title}</h2>\n${content}\n</section>\n`
}

/** Numbers at a glance. */
export function tiles(rows: readonly (readonly [noun: string, number: number])[]): Html {
  return html`<ul class="tiles">${rows.map(([noun, number]) => html`<li><span>${noun}</span><b>${number.toLocaleString('en-US')}</b></li>`)}</ul>`
}

/** What every page has around its own content. */
export interface Frame {
  readonly title: string
  /** Where the reader is; the last one is here. */
  readonly crumbs: readonly { readonly text: string; readonly href?: string }[]
  /** The user that is signed in; absent where no login is needed. */
  readonly reader?: { readonly login: string } | undefined
}

/** A shield with a boundary, as data: the pages load nothing. */
const FAVICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%230b57a4' d='M12 1 3 4.5V12c0 5 3.6 9.3 9 11 5.4-1.7 9-6 9-11V4.5z'/%3E%3C/svg%3E"

/** Style of the graph's picture: one color for each of eight tenants in turn, lighter ones on dark paper. */
const GRAPH_STYLE = `.map{display:block;font-size:13px}.fit{min-width:56rem}
.map text{fill:var(--ink)}.map .sub,.map .col{fill:var(--soft);font-size:11.5px}.map .col{font-weight:600}
.map rect{fill:var(--card);stroke:var(--k,var(--soft))}.map .bar{fill:var(--k,var(--soft));stroke:none}
.map .dash rect{stroke-dasharray:5 4}.map path{fill:none;stroke:var(--soft);stroke-opacity:.45;stroke-width:1.25}.map .own{stroke-opacity:.9;stroke-width:2}
.map .mark{fill:var(--bad-bg);stroke:var(--bad);stroke-dasharray:none}.map .found{fill:var(--bad);font-size:11.5px;font-weight:600}
.map a:hover rect{stroke-width:2}
.k0{--k:#0b57a4}.k1{--k:#1a6b3c}.k2{--k:#8a4b08}.k3{--k:#7b2d8e}.k4{--k:#0f6674}.k5{--k:#a02c5d}.k6{--k:#5b5f00}.k7{--k:#4a4fb5}
@media (prefers-color-scheme:dark){.k0{--k:#7db8f5}.k1{--k:#7fd3a0}.k2{--k:#f0b067}.k3{--k:#d59be6}.k4{--k:#6fcfdd}.k5{--k:#f599bd}.k6{--k:#cfd35c}.k7{--k:#aab0ff}}
.gap{margin-top:1rem}.pager{display:flex;flex-wrap:wrap;gap:.3rem 1rem}`

/** The one style sheet of all pages. No fonts, images or scripts: a page is one request, and stays readable without it. */
export const STYLE = `
:root{color-scheme:light dark;--paper:#fbfbf9;--card:#fff;--ink:#1c2024;--soft:#555d66;--line:#dfe1dd;--faint:#f1f2ee;
--link:#0b57a4;--bad:#b3261e;--bad-bg:#fdf0ee;--good:#1a6b3c;--good-bg:#edf7f0;--warn:#7a4d00;--warn-bg:#fdf5e4;--mark:#0b57a4;
--mono:ui-monospace,"SF Mono",SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{--paper:#111417;--card:#181c20;--ink:#e6e8ea;--soft:#a3abb3;--line:#2d333a;--faint:#20252a;
--link:#7db8f5;--bad:#ff9d94;--bad-bg:#33191a;--good:#7fd3a0;--good-bg:#15291d;--warn:#f0c067;--warn-bg:#2e2413;--mark:#7db8f5}}
*,::before,::after{box-sizing:border-box}
html{-webkit-text-size-adjust:100%;scroll-padding-top:1rem}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans",Cantarell,"Liberation Sans",sans-serif;
overflow-wrap:anywhere}
.wrap{max-width:72rem;margin:0 auto;padding:0 1.25rem}
a{color:var(--link);text-decoration-thickness:1px;text-underline-offset:.16em}
a:hover{text-decoration-thickness:2px}
:focus-visible{outline:3px solid var(--mark);outline-offset:2px;border-radius:3px}
.skip{position:absolute;left:1rem;top:-4rem;padding:.5rem 1rem;background:var(--card);border:1px solid var(--line);border-radius:6px;z-index:1}
.skip:focus{top:.5rem}
h1,h2,h3,h4{line-height:1.25;margin:0;text-wrap:balance}
h1{font-size:clamp(1.45rem,1.1rem + 1.6vw,2.05rem);font-weight:650;letter-spacing:-.015em}
h1.page{margin:2.25rem 0 .4rem}
h2{font-size:1.25rem;font-weight:650;letter-spacing:-.008em;margin:2.75rem 0 .85rem}
h3{font-size:1rem;font-weight:650;margin:1.6rem 0 .6rem}
h4{font-size:1rem;font-weight:600}
p{margin:.5rem 0;max-width:68ch}
code,.place,pre{font-family:var(--mono);font-size:.875em}
code{background:var(--faint);border-radius:4px;padding:.1em .32em}
a code,h3 code,h4 code,td code,th code,summary code{background:none;padding:0}
.dim{color:var(--soft)}
.small{font-size:.875rem;font-weight:400}
.top{border-bottom:1px solid var(--line);background:var(--card)}
.top .wrap{display:flex;flex-wrap:wrap;gap:.3rem 1.25rem;align-items:center;min-height:3.5rem;padding-top:.6rem;padding-bottom:.6rem}
.brand{font-weight:650;letter-spacing:-.01em;color:inherit;text-decoration:none;display:inline-flex;gap:.5rem;align-items:center}
.brand svg{width:1.35rem;height:1.35rem;color:var(--mark)}
.crumbs{display:flex;flex-wrap:wrap;gap:.1rem .5rem;list-style:none;margin:0;padding:0;font-size:.9375rem;flex:1 1 auto}
.crumbs li+li::before{content:"/";color:var(--soft);margin-right:.5rem}
.out{margin:0;font-size:.875rem;color:var(--soft);display:flex;gap:.75rem;align-items:center}
button,select,input{font:inherit;color:inherit;background:var(--card);border:1px solid var(--soft);border-radius:6px;padding:.35rem .7rem;max-width:100%;height:2.4rem}
button{cursor:pointer}button:hover{background:var(--faint)}
.verdict{display:grid;grid-template-columns:auto 1fr;gap:.25rem 1.1rem;align-items:start;margin:2rem 0 0;padding:1.35rem 1.5rem;border:1px solid var(--line);
border-left:6px solid var(--tone);border-radius:10px;background:var(--tone-bg)}
.verdict svg{width:2.4rem;height:2.4rem;color:var(--tone);margin-top:.1rem}
.verdict p{margin:.4rem 0 0}
.bad{--tone:var(--bad);--tone-bg:var(--bad-bg)}.good{--tone:var(--good);--tone-bg:var(--good-bg)}.warn{--tone:var(--warn);--tone-bg:var(--warn-bg)}
.none{--tone:var(--soft);--tone-bg:var(--faint)}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(13rem,1fr));gap:.9rem 1.75rem;margin:1.25rem 0 0;padding:0}
.facts dt{font-size:.8125rem;color:var(--soft)}
.facts dd{margin:.05rem 0 0}
.toc{display:flex;flex-wrap:wrap;gap:.35rem 1.1rem;list-style:none;margin:1.4rem 0 0;padding:.7rem 0;border-top:1px solid var(--line);border-bottom:1px solid var(--line);font-size:.9375rem}
.scroll{overflow-x:auto;border:1px solid var(--line);border-radius:10px;background:var(--card);max-width:100%}
table{border-collapse:collapse;width:100%;font-size:.9375rem;font-variant-numeric:tabular-nums}
caption{text-align:left;padding:.6rem .9rem;color:var(--soft);font-size:.875rem;border-bottom:1px solid var(--line)}
th,td{text-align:left;vertical-align:top;padding:.5rem .9rem;border-bottom:1px solid var(--line);overflow-wrap:normal}
td p{margin:0 0 .3rem}td p,td.wide .place{overflow-wrap:anywhere}td code{white-space:nowrap}td.wide code{white-space:normal}
td.wide{min-width:16rem;overflow-wrap:anywhere}
tbody tr:last-child>*{border-bottom:0}
thead th{font-size:.8125rem;font-weight:600;color:var(--soft);white-space:nowrap}
tbody th{font-weight:600}
.num{text-align:right}
.cell{white-space:nowrap;color:var(--tone,inherit)}
.tag{display:inline-block;font-size:.8125rem;font-weight:500;line-height:1.35;padding:.1rem .5rem;border-radius:999px;border:1px solid var(--tone,var(--line));color:var(--tone,var(--soft));background:var(--tone-bg,transparent);white-space:nowrap}
.tag code{font-size:1em;background:none;padding:0}
.tags{display:inline-flex;flex-wrap:wrap;gap:.3rem;vertical-align:baseline}
.finding{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:1rem 1.2rem 1.05rem;margin:.7rem 0}
.finding>header{display:flex;flex-wrap:wrap;gap:.35rem .8rem;align-items:baseline;justify-content:space-between}
.finding p{margin:.5rem 0}.finding>h2.rule,.finding>header>h3{margin:0}
.quote{margin:.7rem 0;padding:.1rem 0 .1rem .9rem;border-left:3px solid var(--line)}
.label{display:block;font-size:.8125rem;color:var(--soft)}
.quote code{background:none;padding:0}
.rule{display:flex;flex-wrap:wrap;gap:.4rem .7rem;align-items:baseline}
details{margin:.6rem 0 0}
summary{cursor:pointer;color:var(--link);width:fit-content;padding:.1rem .15rem}
details.more{margin:.9rem 0}details.more>summary{font-weight:600;color:inherit}
.trace{list-style:none;margin:.7rem 0 .2rem;padding:0 0 0 1.4rem;position:relative}
.trace::before{content:"";position:absolute;left:.36rem;top:.7rem;bottom:.9rem;border-left:2px solid var(--line)}
.trace li{position:relative;padding:.16rem 0}
.trace li::before{content:"";position:absolute;left:-1.31rem;top:.62rem;width:.6rem;height:.6rem;border-radius:50%;background:var(--card);border:2px solid var(--soft)}
.trace li:first-child::before{border-color:var(--bad);background:var(--bad)}
.trace .label{display:inline-block;min-width:7.2rem;margin-right:.4rem}
.tree,.tree ul{list-style:none;margin:0;padding:0}
.tree ul{margin-left:.55rem;padding-left:1.15rem;border-left:1px solid var(--line)}
.tree li{padding:.28rem 0 .1rem;position:relative}
.tree ul>li::before{content:"";position:absolute;left:-1.15rem;top:1.08rem;width:.8rem;border-top:1px solid var(--line)}
.tree .cluster{font-weight:650}
.tree .from{display:block;font-size:.875rem;color:var(--soft)}
.graph{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.8rem 1.2rem 1rem;margin:.7rem 0}
.diff{margin:.6rem 0;padding:.6rem 0;overflow-x:auto;background:var(--card);border:1px solid var(--line);border-radius:8px;line-height:1.5;tab-size:2}
.diff span{display:block;padding:0 .9rem;white-space:pre;min-width:max-content}
.diff .add{background:var(--good-bg);color:var(--good)}.diff .del{background:var(--bad-bg);color:var(--bad)}
.source .number{display:inline-block;min-width:2.2rem;margin-right:.9rem;padding:0;text-align:right;color:var(--soft);user-select:none}.source .at{background:var(--bad-bg)}
mark{background:none;color:var(--bad);font-weight:600;text-decoration:underline wavy 1px;text-underline-offset:.2em}.copy{user-select:all}
.bars{display:flex;flex-wrap:wrap;gap:.35rem}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.7rem,1fr));gap:.7rem;margin:1.5rem 0 0;padding:0;list-style:none}
.tiles li{background:var(--card);border:1px solid var(--line);border-radius:10px;padding:.55rem .7rem;display:flex;flex-direction:column-reverse;justify-content:flex-end;color:var(--soft);font-size:.8125rem;overflow-wrap:normal}
.scroll+h4{margin-top:1.1rem}.facts .place,.from .place{white-space:nowrap}
.tiles b{font-size:1.5rem;line-height:1.2;font-weight:650;color:var(--ink);font-variant-numeric:tabular-nums;letter-spacing:-.02em}
.ask{display:flex;flex-wrap:wrap;gap:.6rem .8rem;align-items:end;margin:.6rem 0 1rem}
.ask div{max-width:100%}
.ask label{display:block;font-size:.875rem;color:var(--soft)}
.ask select{min-width:min(16rem,100%);display:block}
ul.plain{list-style:none;margin:.5rem 0;padding:0}ul.plain li{padding:.2rem 0}
ul.dots{margin:.5rem 0;padding-left:1.2rem}
footer{margin:3.5rem 0 0;border-top:1px solid var(--line);color:var(--soft);font-size:.875rem}
footer .wrap{padding-top:1.1rem;padding-bottom:2rem}
@media (max-width:40rem){.verdict{padding:1.1rem 1.1rem;gap:.25rem .8rem}.verdict svg{width:1.8rem;height:1.8rem}.trace .label{display:block;min-width:0}th,td{padding:.45rem .7rem}.finding{padding:.85rem .9rem}.graph{padding:.6rem .9rem}}
@media (max-width:40rem){.scroll thead{display:none}.scroll tbody tr{display:block;padding:.5rem 0;border-bottom:1px solid var(--line)}.scroll tbody tr:last-child{border:0}
.scroll tbody :is(td,th){display:block;border:0;padding:.12rem .7rem;text-align:left;min-width:0;overflow-wrap:anywhere;white-space:normal}.scroll :is(td,th):empty{display:none}
.scroll [data-title]::before{content:attr(data-title)" ";color:var(--soft);font-size:.8125rem;font-weight:400}}
@media (prefers-reduced-motion:no-preference){html{scroll-behavior:smooth}}
${GRAPH_STYLE}
@media print{.skip,.toc,.out,.ask{display:none}body{background:#fff}details::details-content{content-visibility:visible;height:auto}}
`

/** The page's own style sheet, between its tags; the policy of the site names it by its hash. */
const STYLE_SHEET = new Html(['<style>', STYLE, '</style>'])

/** A whole page. It holds no script, and everything that is not ours in it is escaped. */
export function layout(frame: Frame, content: Content): string {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${frame.title} · Bailiwick</title>
<link rel="icon" href="${FAVICON}">
${STYLE_SHEET}
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<div class="top"><header class="wrap">
<a class="brand" href="/">${icon('shield')}Bailiwick</a>
${crumbs(frame)}
${signOut(frame)}
</header></div>
<main class="wrap" id="main" tabindex="-1">
${content}
</main>
<footer><div class="wrap">Bailiwick keeps every tenant of a fleet inside their own namespaces. This page loads no files from other servers.</div></footer>
</body>
</html>
`
  return page.toString()
}

function crumbs({ crumbs }: Frame): Content {
  if (crumbs.length === 0) return undefined
  const items = crumbs.map(({ text, href }, at) => {
    const here = at === crumbs.length - 1 && html` aria-current="page"`
    return html`<li>${href === undefined ? html`<span${here}>${text}</span>` : html`<a href="${href}"${here}>${text}</a>`}</li>`
  })
  return html`<nav aria-label="Breadcrumb"><ol class="crumbs">${items}</ol></nav>`
}

function signOut({ reader }: Frame): Content {
  if (!reader) return undefined
  return html`<form class="out" method="post" action="/logout"><span>Signed in as ${reader.login}</span><button type="submit">Sign out</button></form>`
}

const ICONS = {
  shield: html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linejoin="round" aria-hidden="true" focusable="false"><path d="M12 2.5 4 5.5V12c0 4.5 3.2 8.2 8 9.7 4.8-1.5 8-5.2 8-9.7V5.5z"/><path d="M12 7v10M7.5 12h9"/></svg>`,
  pass: html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="9.5"/><path d="m7.8 12.4 2.9 2.9 5.6-6.3"/></svg>`,
  fail: html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="9.5"/><path d="m8.5 8.5 7 7m0-7-7 7"/></svg>`,
  unsure: html`<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2.2" stroke-linecap="round" aria-hidden="true" focusable="false"><circle cx="12" cy="12" r="9.5"/><path d="M9.3 9.3a2.8 2.8 0 1 1 4 2.6c-.9.4-1.3 1-1.3 1.9"/><path d="M12 17h.01"/></svg>`,
}

/** A picture that repeats the words beside it. */
export function icon(name: keyof typeof ICONS): Html {
  return ICONS[name]
}
