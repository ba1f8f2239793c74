import { exampleOf } from '../../rules/examples.ts'
import { rules } from '../../rules/registry.ts'
import { exampleBlock } from './example-block.ts'
import { html } from './html.ts'
import { layout } from './layout.ts'
import { ruleArticle } from './rule-article.ts'

/** The page of one rule, with an example; undefined if there is no such rule. Nothing of any repository. */
export function rulePage(id: string): string | undefined {
  const rule = rules.find(one => one.id === id)
  if (!rule) return undefined
  const example = exampleOf(id)
  return layout({ title: `Rule ${id}`, crumbs: [{ text: 'Rules', href: '/rules' }, { text: id }] }, [
    html`<h1 class="page">Rule <code>${id}</code></h1>
${ruleArticle(rule, 'page')}
<section aria-labelledby="example"><h2 id="example">Example</h2>
${example ? exampleBlock(example) : html`<p>This rule has no short example.</p>`}
</section>
`,
  ])
}
