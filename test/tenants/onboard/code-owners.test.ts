import { expect, test } from 'vitest'
import { codeOwners } from '../../../src/tenants/onboard/template.ts'
import { treeOf } from '../../base/git/tree-of.ts'

const owners = (text: string, ...paths: string[]) => codeOwners(treeOf({ '.github/CODEOWNERS': text }), paths)

test('of each file the last line that matches counts, as on GitHub', () => {
  const text = '* @acme/all\n/tenants/ @acme/platform @ada # the platform\n/tenants/base/ops/\n'
  expect(owners(text, 'README.md')).toEqual(['@acme/all'])
  expect(owners(text, 'tenants/base/dev/sync.yaml', 'README.md')).toEqual(['@acme/all', '@acme/platform', '@ada'])
  expect(owners(text, 'tenants/base/ops/sync.yaml')).toEqual([])
})

test('a star after the last slash means files of that folder alone', () => {
  expect(owners('tenants/* @ada\n', 'tenants/README.md')).toEqual(['@ada'])
  expect(owners('tenants/* @ada\n', 'tenants/base/ops/sync.yaml')).toEqual([])
  expect(owners('tenants/* @ada\n', 'tenants/x/x')).toEqual([])
  expect(owners('tenants/** @ada\n', 'tenants/base/ops/sync.yaml')).toEqual(['@ada'])
})

test('a file that GitHub ignores for its size names nobody', () => {
  const line = '* @acme/all\n'
  const most = 3 * 1024 * 1024
  expect(owners(line.padEnd(most, '#'), 'a')).toEqual(['@acme/all'])
  expect(owners(line.padEnd(most + 1, '#'), 'a')).toEqual([])
})

test('patterns that need too much work are an error', () => {
  const path = `${'a/'.repeat(60)}b`
  const line = `${'**/a/'.repeat(30)}c @acme/all\n`
  expect(() => owners(line.repeat(2_000), path)).toThrow(expect.objectContaining({ code: 'render-limits' }))
})
