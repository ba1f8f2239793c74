import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

interface Locked {
  readonly version?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

/**
 * `npm install` against a registry that lacks the builds of another platform writes a lock without them, and `npm ci`
 * then refuses it everywhere: "Missing: ... from lock file". An entry with version, os, cpu and optional is enough.
 */
test('the lock names the builds for every platform, so that npm ci accepts it', () => {
  const text = readFileSync(join(import.meta.dirname, '../../package-lock.json'), 'utf8')
  const { packages } = JSON.parse(text) as { packages: Readonly<Record<string, Locked>> }
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies)
      .filter(name => !packages[`node_modules/${name}`] && !packages[`${path}/node_modules/${name}`])
      .map(name => `${path} wants ${name}`),
  )
  expect(missing).toEqual([])
})
