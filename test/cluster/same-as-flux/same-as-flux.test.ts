import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { missing } from '../status/flux-world.ts'
import { SAME_CASES } from './cases.ts'
import { DIFFERENCES } from './differences.ts'
import { differencesOf, factsOf } from './left-behind.ts'
import { placeOf, sideBySide } from './side-by-side.ts'

/** Some cases alone, by a pattern of their names: `ONLY=prune`. */
const ONLY = process.env.ONLY ?? ''
const CASES = Object.entries(SAME_CASES).filter(([name]) => new RegExp(ONLY).test(name))

test('docs/worker.md lists every difference that a case may show, and no other', () => {
  const text = readFileSync(join(import.meta.dirname, '../../../docs/worker.md'), 'utf8')
  const [, table = ''] = text.split(/^## What differs$|^Held by other tests:$/m)
  const rows = table.split('\n').filter(line => line.startsWith('| '))
  const names = rows.slice(1).map(line => line.split(' | ')[0]!.slice(2))
  expect(names.sort()).toEqual(Object.keys(DIFFERENCES).sort())
})

describe('the worker beside the real kustomize-controller, on the same input', () => {
  let all: Awaited<ReturnType<typeof sideBySide>> = { theirs: [], ours: [] }

  beforeAll(async () => {
    if (missing !== undefined) return
    all = await sideBySide(CASES.map(([, one]) => one))
  }, 400_000)

  const seen = new Set<string>()
  test.for(CASES.map(([name], number) => [name, number] as const))(
    '%s',
    { timeout: 400_000 },
    async ([name, at], { skip, task }) => {
      if (missing !== undefined) return skip(missing)
      const { steps, differs = [], mayDiffer = [] } = SAME_CASES[name]!
      // what one of the two happened to do sooner does not show again, when the case alone is played once more
      const isAgain = (task.result?.retryCount ?? 0) > 0
      const { theirs, ours } = isAgain ? await sideBySide([SAME_CASES[name]!]) : all
      const number = isAgain ? 0 : at
      const unexplained: string[] = []
      const shown = new Set<string>()
      for (const index of steps.keys()) {
        const found = differencesOf(
          factsOf(theirs[index]!, placeOf('flux', number)),
          factsOf(ours[index]!, placeOf('ours', number)),
        )
        for (const line of found) {
          const why = [...differs, ...mayDiffer].filter(key => DIFFERENCES[key]!.test(line))
          for (const key of why) shown.add(key)
          if (why.length === 0) unexplained.push(`step ${index} ${line}`)
        }
      }
      for (const key of shown) seen.add(key)
      expect(
        unexplained,
        'what differs (- kustomize-controller, + worker) and no difference of this case explains',
      ).toEqual([])
      expect(
        differs.filter(key => !shown.has(key)),
        'differences that this case names and that do not show',
      ).toEqual([])
    },
  )

  test('each difference that is told shows somewhere', ({ skip }) => {
    if (missing !== undefined) return skip(missing)
    if (ONLY !== '') return skip('only some cases ran')
    expect(Object.keys(DIFFERENCES).filter(key => !seen.has(key))).toEqual([])
  })
})
