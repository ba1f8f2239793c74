/** Style of the graph's picture: one color for each of eight tenants in turn, lighter ones on dark paper. */
export const GRAPH_STYLE = `.map{display:block;font-size:13px}.fit{min-width:56rem}
.map text{fill:var(--ink)}.map .sub,.map .col{fill:var(--soft);font-size:11.5px}.map .col{font-weight:600}
.map rect{fill:var(--card);stroke:var(--k,var(--soft))}.map .bar{fill:var(--k,var(--soft));stroke:none}
.map .dash rect{stroke-dasharray:5 4}.map path{fill:none;stroke:var(--soft);stroke-opacity:.45;stroke-width:1.25}.map .own{stroke-opacity:.9;stroke-width:2}
.map .mark{fill:var(--bad-bg);stroke:var(--bad);stroke-dasharray:none}.map .found{fill:var(--bad);font-size:11.5px;font-weight:600}
.map a:hover rect{stroke-width:2}
.k0{--k:#0b57a4}.k1{--k:#1a6b3c}.k2{--k:#8a4b08}.k3{--k:#7b2d8e}.k4{--k:#0f6674}.k5{--k:#a02c5d}.k6{--k:#5b5f00}.k7{--k:#4a4fb5}
@media (prefers-color-scheme:dark){.k0{--k:#7db8f5}.k1{--k:#7fd3a0}.k2{--k:#f0b067}.k3{--k:#d59be6}.k4{--k:#6fcfdd}.k5{--k:#f599bd}.k6{--k:#cfd35c}.k7{--k:#aab0ff}}
.gap{margin-top:1rem}.pager{display:flex;flex-wrap:wrap;gap:.3rem 1rem}`
