import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tenantRequestForm } from '../../../src/tenants/onboard/tenant-form.ts'
import { commands } from '../../../workers/commands/registry.ts'

const docs = join(import.meta.dirname, '../../../docs')
const read = (name: string) => readFileSync(join(docs, name), 'utf8')

test('docs/commands.md has every command, in the order of help', () => {
  const rows = [...read('commands.md').matchAll(/^\| (`[^|]*(?:\\\|[^|]*)*) \|/gm)].map(([, cell = '']) => cell)
  const named = rows.flatMap(cell => [...cell.matchAll(/`([a-z-]+)/g)].map(([, name]) => name))
  expect(named).toEqual(commands.map(({ name }) => name))
})

test('each command says how to write it, beginning with its name, and in one line what it does', () => {
  for (const { name, usage, summary } of commands) {
    expect(usage.split(' ')[0]).toBe(name)
    expect(summary).toMatch(/^\S[^\n]*[^.\s]$/)
  }
  expect(new Set(commands.map(({ name }) => name)).size).toBe(commands.length)
})

test('docs/tenant-request.yml is the form that is read', () => {
  expect(read('tenant-request.yml')).toBe(tenantRequestForm())
})
