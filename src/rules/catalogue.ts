import type { Rule } from './rule.ts'

/** The catalogue of rules as Markdown; docs/rules.md is this text. */
export function catalogue(rules: readonly Rule[]): string {
  const index = rules.map(rule => `| [\`${rule.id}\`](#${rule.id}) | ${rule.severity} | ${rule.title} |`)
  const chapters = rules.map(rule =>
    [`## ${rule.id}`, `**${rule.title}** (${rule.severity})`, rule.why, `Instead: ${rule.docs}`].join('\n\n'),
  )
  const intro = [
    '# Rules',
    'What Bailiwick asks of the objects that a cluster would get, after every overlay and patch. A finding points at the line that wrote the offending value. This file is generated: `node docs/generate-rules.ts`.',
    ['| rule | severity | what it asks |', '|---|---|---|', ...index].join('\n'),
  ]
  return `${[...intro, ...chapters].join('\n\n')}\n`
}
