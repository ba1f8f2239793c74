import { rules } from '../../rules/registry.ts'
import { subjects } from '../../rules/subjects.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'
import { ruleArticle } from './rule-article.ts'
import { matches, searchForm } from './search-form.ts'

/** Headings of the folders of src/rules. */
const HEADINGS: Readonly<Record<string, string>> = {
  capsule: 'Capsule',
  config: 'Configuration of the fleet',
  flux: 'Flux control plane',
  git: 'Files in git',
  identity: 'Service accounts and kubeconfigs',
  kustomize: 'Kustomize and substitution',
  namespaces: 'Namespaces and cluster-scoped objects',
  ownership: 'Ownership, deletion and drift',
  policies: 'Admission policies',
  rbac: 'Roles and bindings',
  references: 'References to other namespaces and addresses',
  schema: 'Schemas',
  secrets: 'Secrets and encryption',
  sources: 'Sources and charts',
  workloads: 'Pods, Services and admission',
}

/** Rules that are listed with their examples; in a longer list each links to its own page. */
const MAX_EXAMPLES = 20

/**
 * The rules by subject, each with its id as anchor: what it finds, why, what to do, and an example. `search`: only rules with all of these words.
 * Nothing of any repository.
 */
export function rulesPage(search = ''): string {
  const groups = Object.entries(subjects).map(([folder, ids]) => {
    const title = HEADINGS[folder] ?? folder
    const own = rules.filter(({ id }) => ids.includes(id))
    return {
      folder,
      title,
      own: own.filter(({ id, title: name, why, docs }) => matches(search, id, title, name, why, docs)),
    }
  })
  const found = groups.filter(({ own }) => own.length > 0)
  const shown = found.reduce((sum, { own }) => sum + own.length, 0)
  return layout({ title: 'Rules', crumbs: [{ text: 'Rules' }] }, [
    html`<h1 class="page">Rules</h1>
<p>Bailiwick checks the objects that a cluster would receive, after every overlay and patch. <code>/bailiwick explain RULE</code> on a pull request shows a rule with its findings there. <a href="/errors">Error codes</a> have a separate page.</p>
${searchForm('/rules', search, shown, rules.length, 'rules')}`,
    found.length > 1 &&
      html`<nav aria-label="Subjects"><ul class="toc">${found.map(({ folder, title, own }) => html`<li><a href="#subject-${folder}">${title} (${own.length})</a></li>`)}</ul></nav>`,
    found.map(
      ({
        folder,
        title,
        own,
      }) => html`<section aria-labelledby="subject-${folder}"><h2 id="subject-${folder}">${title}</h2>
${own.map(rule => ruleArticle(rule, shown > MAX_EXAMPLES ? 'list' : 'short-list'))}</section>
`,
    ),
  ])
}
