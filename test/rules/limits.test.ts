import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIMITS } from './limits-table.ts'

const ROOT = join(import.meta.dirname, '../..')
const CORE =
  '{src/{base,git,kube,expr,kustomize,flux,schema,fleet,admission,rules,verdict,tenants,report},workers}/**/*.ts'
/** A constant that is called a limit and is a number or a table of numbers. */
const LIMIT =
  /^(?:export )?const ((?:[A-Z]+_)*(?:MAX|MOST|LIMIT|LIMITS|LONGEST|LISTED|MANY|KEPT|FEW|BUDGET|PATIENCE|HOPS|REMEMBERED)(?:_[A-Z]+)*)\b[^=]*= (?:[-\d(]|\{)/gm

const files = globSync([CORE, 'src/cluster/{open,ask}-kms.ts', 'src/surface/command/answer-text.ts'], {
  cwd: ROOT,
}).sort()
const sources = new Map(files.map(file => [file, readFileSync(join(ROOT, file), 'utf8')]))

test('every limit is in the table, with why it hides nothing', () => {
  const written = [...sources].flatMap(([file, text]) => [...text.matchAll(LIMIT)].map(([, name]) => `${file} ${name}`))
  expect(Object.values(LIMITS).flat().sort()).toEqual(written.sort())
})

test('nothing that a rule looks at is cut by a number', () => {
  const cut = [...sources].flatMap(([file, text]) =>
    /^src\/(?:rules|fleet|verdict)\//.test(file)
      ? [...text.matchAll(/\.(?:slice|subarray)\(0, [\d_* ]{3,}\)|\.split\([^)]+, (?!1\))[\d_A-Z]+\)/g)].map(
          ([what]) => `${file} ${what}`,
        )
      : [],
  )
  // texts of messages, and names that nobody may write longer
  expect(cut).toEqual([
    'src/fleet/config/shape.ts .slice(0, 100)',
    'src/fleet/model/fleet.ts .slice(0, 253)',
    'src/fleet/sources/resolve-source.ts .slice(0, 500)',
    'src/rules/references/cross-namespace.ts .slice(0, 600)',
    'src/verdict/approve.ts .slice(0, 400)',
    'src/verdict/baseline.ts .slice(0, 300)',
  ])
})
