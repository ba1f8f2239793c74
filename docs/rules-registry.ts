import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const root = join(import.meta.dirname, '..')

/** The source of src/rules/registry.ts: each file in a folder of src/rules that exports a rule, sorted by its name. */
export function rulesRegistry(): string {
  const found = globSync('src/rules/*/*.ts', { cwd: root }).sort().flatMap(ruleIn)
  const imports = found.map(({ name, path }) => [path, `import { ${name} } from './${path}'`])
  const sorted = [...imports, ['model/rule.ts', "import type { Rule } from './model/rule.ts'"]].sort()
  return [
    ...sorted.map(([, line]) => line),
    '',
    '/** Every rule that there is, sorted by id: one for each file that exports one. Written by docs/generate-rules.ts. */',
    'export const rules: readonly Rule[] = [',
    ...[...found].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ name }) => `  ${name},`),
    ']',
    '',
  ].join('\n')
}

function ruleIn(file: string): { name: string; path: string; id: string }[] {
  const name = /^export const (\w+): Rule\b/m.exec(readFileSync(join(root, file), 'utf8'))?.[1]
  return name === undefined ? [] : [{ name, path: file.slice('src/rules/'.length), id: basename(file, '.ts') }]
}
