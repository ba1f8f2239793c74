import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { LIMITS } from './limits-table.ts'

const ROOT = join(import.meta.dirname, '../..')
const CORE =
  '{src/{kube,cel,kstatus,kustomize,flux,fleet,facts,policy,rules,evaluate,approval,audit,access,protection,message,diff,fix,report,onboard,git,sops,kms,gate,trail,schema},workers}/**/*.ts'
/** A constant that is called a limit and is a number or a table of numbers. */
const LIMIT =
  /^(?:export )?const ((?:[A-Z]+_)*(?:MAX|MOST|LIMIT|LIMITS|LONGEST|LISTED|MANY|KEPT|FEW|BUDGET|PATIENCE|HOPS|REMEMBERED)(?:_[A-Z]+)*)\b[^=]*= (?:[-\d(]|\{)/gm

const files = globSync([CORE, 'src/command/gate-answer.ts'], { cwd: ROOT }).sort()
const sources = new Map(files.map(file => [file, readFileSync(join(ROOT, file), 'utf8')]))

test('every limit is in the table, with why it hides nothing', () => {
  const written = [...sources].flatMap(([file, text]) => [...text.matchAll(LIMIT)].map(([, name]) => `${file} ${name}`))
  expect(Object.values(LIMITS).flat().sort()).toEqual(written.sort())
})

test('nothing that a rule looks at is cut by a number', () => {
  const cut = [...sources].flatMap(([file, text]) =>
    /^src\/(?:rules|fleet|facts|evaluate)\//.test(file)
      ? [...text.matchAll(/\.(?:slice|subarray)\(0, [\d_* ]{3,}\)|\.split\([^)]+, (?!1\))[\d_A-Z]+\)/g)].map(
          ([what]) => `${file} ${what}`,
        )
      : [],
  )
  // texts of messages, and names that nobody may write longer
  expect(cut).toEqual([
    'src/evaluate/verdict/baseline-text.ts .slice(0, 300)',
    'src/fleet/config/shape.ts .slice(0, 100)',
    'src/fleet/model/node-key.ts .slice(0, 253)',
    'src/fleet/sources/resolve-source.ts .slice(0, 500)',
    'src/rules/references/cross-namespace-ref.ts .slice(0, 600)',
  ])
})
