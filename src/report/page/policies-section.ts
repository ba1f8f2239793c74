import type { RuleCoverage } from '../../rules/policies/support/policy-coverage.ts'
import { count } from '../text/headline.ts'
import type { StoredPolicy } from './fleet-page.ts'
import { type FleetQuery, matches } from './fleet-query.ts'
import { type Content, type Html, html } from './html.ts'
import { type Links, placeLink } from './links.ts'
import { paged } from './paged.ts'

/** Exceptions, and rules, of a policy that are listed. */
const MAX_EXCEPTIONS = 10
const MAX_RULES = 20

/** The admission policies of a fleet by cluster: their results for the objects, unsupported parts, and exceptions. */
export function policiesSection(policies: readonly StoredPolicy[], query: FleetQuery, links: Links, left = 0): Content {
  if (policies.length === 0) return html`<p>The platform renders no admission policy.</p>`
  const wanted = policies.filter(({ cluster, kind, namespace, name, rules }) =>
    matches(query, { texts: [kind, namespace, name, ...rules.map(({ rule }) => rule)], clusters: [cluster] }),
  )
  if (wanted.length === 0) return html`<p>No policy matches the filters.</p>`
  const { shown, pager } = paged(wanted, query, 'policies', { left })
  return [
    html`<p>The result of each policy for the objects of the fleet, as if they were created now.</p>`,
    [...Map.groupBy(shown, ({ cluster }) => cluster)].map(
      ([
        cluster,
        own,
      ]) => html`<h3 class="rule">${cluster} <span class="dim small">${own.length === 1 ? '1 policy' : `${own.length} policies`}</span></h3>
<div class="scroll" role="region" aria-label="Policies of ${cluster}" tabindex="0"><table>
<thead><tr><th scope="col">Policy</th><th scope="col">Rule</th><th scope="col">Answers</th><th scope="col">Not evaluated</th></tr></thead>
<tbody>
${own.map(policy => policyRows(policy, links))}</tbody>
</table></div>
`,
    ),
    pager,
  ]
}

function policyRows(policy: StoredPolicy, links: Links): Html {
  const rows = policy.rules.length > 0 ? policy.rules.slice(0, MAX_RULES) : [undefined]
  const more = Math.max(0, policy.rules.length - rows.length) + (policy.moreRules ?? 0)
  return html`${rows.map(
    (
      rule,
      at,
    ) => html`<tr>${at === 0 && html`<th scope="rowgroup" rowspan="${rows.length}">${head(policy, links)}${more > 0 && html`<p class="dim small">and ${more} more rules</p>`}</th>`}${cells(policy, rule)}</tr>
`,
  )}`
}

function head({ kind, namespace, name, origin, exceptions, moreExceptions = 0 }: StoredPolicy, links: Links): Html {
  const excepted = exceptions.slice(0, MAX_EXCEPTIONS)
  const left = exceptions.length - excepted.length + moreExceptions
  return html`${name}<br><span class="dim small">${kind}${namespace !== '' && ` in ${namespace}`}</span><br><span class="small">${placeLink(links, origin)}</span>${
    excepted.length > 0 &&
    html`<p class="small">Exceptions: ${excepted.map(one => html`${one.name} (${placeLink(links, one.origin)}) `)}${left > 0 && `and ${left} more`}</p>`
  }`
}

function cells({ notEvaluated }: StoredPolicy, rule: RuleCoverage | undefined): Html {
  const parts = notEvaluated.map(part => (part === 'kind' ? 'the whole policy' : part)).join(', ')
  if (!rule) {
    const says = parts === '' ? 'It selects no object of the fleet.' : ''
    return html`<td></td><td>${says}</td><td>${parts}</td>`
  }
  const { passed, denied, warned, audited, why } = rule
  const answers = [
    [denied, 'bad', 'denied'],
    [warned, 'warn', 'warned'],
    [audited, 'warn', 'audited'],
    [passed, 'good', 'passed'],
  ] as const
  const tags = answers.flatMap(([number, tone, word]) =>
    number > 0 ? [html`<span class="tag ${tone}">${number.toLocaleString('en-US')} ${word}</span> `] : [],
  )
  return html`<td><code>${rule.rule}</code></td><td><span class="tags">${tags}</span></td><td class="wide">${rule.notEvaluated > 0 && html`${count(rule.notEvaluated, 'object')}: ${why}<br>`}${parts}</td>`
}
