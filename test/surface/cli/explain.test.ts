import { expect, test } from 'vitest'
import { errorGuide } from '../../../src/report/error-guide.ts'
import { rules } from '../../../src/rules/registry.ts'
import { run } from './run-main.ts'

const here = import.meta.dirname

test('every rule is explained in lines of 100 characters', async () => {
  for (const rule of rules) {
    const { code, stdout } = await run(here, 'explain', rule.id)
    expect([rule.id, code]).toEqual([rule.id, 0])
    const words = stdout.replaceAll(/\s+/g, ' ')
    for (const part of [rule.id, rule.title, rule.docs]) expect(words).toContain(part.replaceAll(/\s+/g, ' '))
    const long = stdout.split('\n').filter(line => line.length > 100)
    expect([rule.id, long]).toEqual([rule.id, []])
  }
})

test('without a rule all of them are listed', async () => {
  const { stdout } = await run(here, 'explain')
  expect(stdout).toMatch(/^RULE +SEVERITY +TITLE$/m)
  for (const { id } of rules) expect(stdout).toContain(id)
  const listed = JSON.parse((await run(here, 'explain', '-o', 'json')).stdout) as { id: string }[]
  expect(listed.map(({ id }) => id)).toEqual(rules.map(({ id }) => id))
})

test('a misspelled rule gets the one that was meant', async () => {
  const { code, stderr } = await run(here, 'explain', 'namespace-confinment')
  expect(code).toBe(2)
  expect(stderr).toBe(
    'error[usage]: unknown rule or error code "namespace-confinment". Did you mean namespace-confinement?\n',
  )
  expect((await run(here, 'explain', 'zzz')).stderr).toMatch(/"zzz"\. Run bailiwick explain/)
  expect((await run(here, 'explain', 'rbac')).stderr).toMatch(/Similar: \S+, \S+.*\. Run bailiwick explain/)
})

test('every error code is explained', async () => {
  for (const { code: name, means, remedy } of errorGuide) {
    const { code, stdout } = await run(here, 'explain', name)
    expect([name, code]).toEqual([name, 0])
    const words = stdout.replaceAll(/\s+/g, ' ')
    for (const part of [name, means, remedy]) expect(words).toContain(part)
    expect(stdout.split('\n').filter(line => line.length > 100)).toEqual([])
  }
  expect(JSON.parse((await run(here, 'explain', 'git-missing', '-o', 'json')).stdout)).toEqual(
    errorGuide.find(({ code }) => code === 'git-missing'),
  )
})
