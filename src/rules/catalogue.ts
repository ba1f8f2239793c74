import type { Rule } from './model/rule.ts'

/** The catalogue of rules as Markdown; docs/rules.md is this text. */
export function catalogue(rules: readonly Rule[]): string {
  const index = rules.map(rule => `| [\`${rule.id}\`](#${rule.id}) | ${counts(rule)} | ${rule.title} |`)
  const intro = [
    '# Rules',
    'Bailiwick checks the objects that a cluster would receive, after every overlay and patch. A finding points to the line that wrote the offending value. This file is generated: `node docs/generate-rules.ts`.',
    ['| rule | counts as | what it finds |', '|---|---|---|', ...index].join('\n'),
  ]
  return `${[...intro, ...rules.map(chapter)].join('\n\n')}\n`
}

function chapter(rule: Rule): string {
  return [
    `## ${rule.id}`,
    `**${rule.title}** (${counts(rule)})`,
    rule.why,
    ...(rule.source ? [`Source: ${rule.source}`] : []),
    `What to do: ${rule.docs}`,
  ].join('\n\n')
}

function counts({ severity, level = 'violation', profile = 'baseline' }: Rule): string {
  if (level === 'error') return 'error'
  if (level === 'warning') return `warning, ${severity}`
  return profile === 'restricted' ? `${severity}, a warning in the profile \`baseline\`` : severity
}
