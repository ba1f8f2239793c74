import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dirname, '..')

export interface ExportedRule {
  readonly id: string
  readonly name: string
  /** Below src/rules. */
  readonly path: string
}

/** The rules that the files of src/rules export, in the order of the files. */
export function exportedRules(pattern = '**/*.ts'): ExportedRule[] {
  return globSync(`src/rules/${pattern}`, { cwd: root })
    .sort()
    .flatMap(file => {
      const text = readFileSync(join(root, file), 'utf8')
      const path = file.slice('src/rules/'.length)
      return [...text.matchAll(/^export const (\w+): Rule = \{\n {2}id: (?:'([a-z-]+)'|([A-Z_]+)),$/gm)].map(
        ([, name = '', id, constant]) => ({ id: id ?? textOf(constant, text), name, path }),
      )
    })
}

const textOf = (constant = '', text: string) => new RegExp(`\\b${constant} = '([^']+)'`).exec(text)?.[1] ?? constant

/** The source of src/rules/registry.ts, before it is formatted: every rule that a file of src/rules exports, sorted by id. */
export function rulesRegistry(): string {
  const found = exportedRules()
  const imports = [...Map.groupBy(found, ({ path }) => path)].map(
    ([path, rules]) => [path, `import { ${rules.map(({ name }) => name).join(', ')} } from './${path}'`] as const,
  )
  const sorted = [...imports, ['model/rule.ts', "import type { Rule } from './model/rule.ts'"] as const].sort(
    ([a], [b]) => (a < b ? -1 : 1),
  )
  return [
    ...sorted.map(([, line]) => line),
    '',
    '/** Every rule that there is, sorted by id. Written by docs/generate-rules.ts. */',
    'export const rules: readonly Rule[] = [',
    ...[...found].sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ name }) => `  ${name},`),
    ']',
    '',
  ].join('\n')
}

/** The folder of src/rules that a rule is in; '' for one in none. */
export function areaOf(): (id: string) => string {
  const areas = new Map(
    exportedRules().map(({ id, path }) => [id, path.includes('/') ? path.slice(0, path.indexOf('/')) : '']),
  )
  return id => areas.get(id) ?? ''
}
