import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { provenance } from '../../../build/release/provenance.ts'
import { releaseNotes } from '../../../build/release/release-notes.ts'
import { sbom } from '../../../build/release/sbom.ts'
import { writeRelease } from '../../../build/release/write-release.ts'

const ROOT = join(import.meta.dirname, '../../..')
const scratch = mkdtempSync(join(tmpdir(), 'bailiwick-release-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))
const { version } = JSON.parse(readFileSync('package.json', 'utf8'))

test('the notes of a version are its section of the changelog', () => {
  const changelog = '# Changelog\n\n## [1.1.0] - 2027-01-02\n\n- New.\n\n## 1.0.0\n\n- First.\n\n## 0.9.0\n'
  expect(releaseNotes(changelog, '1.1.0')).toBe('- New.\n')
  expect(releaseNotes(changelog, '1.0.0')).toBe('- First.\n')
  expect(() => releaseNotes(changelog, '1.1')).toThrow('no section "## 1.1"')
  expect(() => releaseNotes(changelog, '0.9.0')).toThrow('is empty')
  expect(releaseNotes(readFileSync('CHANGELOG.md', 'utf8'), version)).not.toBe('')
})

const LIBC = { name: 'libc6', version: '2.36-9+deb12u1', architecture: 'arm64' }
const bomOf = () =>
  sbom(ROOT, { created: '2027-01-01T00:00:00+01:00', packages: [LIBC], node: { version: '24.1.0' } }, scratch)
let bom: Awaited<ReturnType<typeof bomOf>>
beforeAll(async () => {
  bom = await bomOf()
}, 120_000)

test('the bill of materials is the same each time', { timeout: 120_000 }, async () => {
  expect(JSON.stringify(await bomOf())).toBe(JSON.stringify(bom))
})

test('the bill of materials has what the bundle carries, Node, and the libraries of Debian', () => {
  const licenses = readFileSync(join(scratch, 'bundle/THIRD-PARTY-LICENSES.txt'), 'utf8')
  const carried = [...licenses.matchAll(/(?:^|-{80}\n\n)(\S+) (\d\S*) \([^)]+\)$/gm)].map(
    ([, name, of]) => `${name}@${of}`,
  )
  const listed = bom.components.map(({ name, version: of }) => `${name}@${of}`)
  expect(carried.length).toBeGreaterThan(50)
  expect(listed.slice(0, -2).sort()).toEqual([...new Set(carried)].sort())
  expect(listed.slice(-2)).toEqual(['node@24.1.0', 'libc6@2.36-9+deb12u1'])
  expect(bom.components.at(-1)).toMatchObject({ purl: 'pkg:deb/debian/libc6@2.36-9%2Bdeb12u1?arch=arm64' })
  expect(bom.metadata).toMatchObject({
    timestamp: '2026-12-31T23:00:00.000Z',
    component: { name: 'bailiwick', version },
  })
})

/** The schemas that CycloneDX publishes, by their library. */
function cycloneDxSchema(version: string) {
  const library = createRequire(import.meta.url).resolve('@cyclonedx/cyclonedx-library/package.json')
  const schemaOf = (name: string) =>
    JSON.parse(readFileSync(join(dirname(library), 'res/schema', `${name}.SNAPSHOT.schema.json`), 'utf8'))
  const ajv = new Ajv({ strict: false, allErrors: true, validateFormats: false })
  // referred to by their file names, beside the id of the schema
  for (const name of ['spdx', 'jsf-0.82']) {
    const { $id: _, ...schema } = schemaOf(name)
    ajv.addSchema(schema, `http://cyclonedx.org/schema/${name}.SNAPSHOT.schema.json`)
  }
  return ajv.compile(schemaOf(`bom-${version}`))
}

test('the bill of materials follows the schema of CycloneDX', () => {
  const written = JSON.parse(JSON.stringify(bom))
  const validate = cycloneDxSchema(written.specVersion)
  validate(written)
  expect(validate.errors).toBeNull()
  const references = written.components.map((one: Record<string, string>) => one['bom-ref'])
  expect(new Set(references).size).toBe(references.length)
  expect(validate({ ...written, serialNumber: 'urn:uuid:1' }), 'the schema refuses what is not of its form').toBe(false)
})

test('the provenance names every file, the commit and the locked dependencies', () => {
  const file = { name: 'a.tgz', sha256: 'a'.repeat(64) }
  const lock = { name: 'package-lock.json', sha256: 'b'.repeat(64) }
  const repository = 'https://github.com/acme/bailiwick'
  const times = { started: '2027-01-01T00:00:00Z', finished: '2027-01-01T00:01:00Z' }
  expect(provenance([file], { repository, revision: 'c'.repeat(40), lock, ...times })).toMatchObject({
    _type: 'https://in-toto.io/Statement/v1',
    subject: [{ name: 'a.tgz', digest: { sha256: file.sha256 } }],
    predicateType: 'https://slsa.dev/provenance/v1',
    predicate: {
      buildDefinition: {
        resolvedDependencies: [{ digest: { gitCommit: 'c'.repeat(40) } }, { digest: { sha256: lock.sha256 } }],
      },
    },
  })
})

test('only a committed state with the tag of its version is released', async () => {
  const out = join(scratch, 'out')
  const release = writeRelease(out, { isRehearsal: false, repository: 'https://github.com/acme/bailiwick' })
  await expect(release).rejects.toThrow(/^uncommitted changes: |^v\S+: no tag of this commit/)
  expect(existsSync(out)).toBe(false)
})
