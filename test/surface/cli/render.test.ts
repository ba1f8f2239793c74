import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Json } from '../../../src/kube/node.ts'
import { toJson } from '../../../src/kube/node.ts'
import { parseDocuments } from '../../../src/kube/yaml/parse-documents.ts'
import { comparable, FIXTURES, fixtures } from '../../../tools/oracles/fixtures.ts'
import { KUSTOMIZE, kustomizeBuild } from '../../../tools/oracles/real-programs.ts'
import { git, repository, run, scratch, write } from './run-main.ts'

const FILES = {
  'base/kustomization.yaml': 'resources:\n  - a.yaml\n',
  'base/a.yaml':
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "yes"\n  y: "1e3"\n  z: |\n    a\n\n     b\n',
  'overlay/kustomization.yaml': 'resources:\n  - ../base\nnamespace: team\n',
}

const read = (yaml: string): Json[] =>
  parseDocuments({ repository: '', path: 'out' }, Buffer.from(yaml)).map(node => comparable(toJson(node)))

describe('what a directory renders', () => {
  test('yaml and json say the same, with ../base read from wherever it lies', async () => {
    const folder = write(scratch(), FILES)
    const yaml = await run(folder, 'render', 'overlay')
    const json = await run(folder, 'render', join(folder, 'overlay'), '-o', 'json')
    expect([yaml.code, yaml.stderr, json.code, json.stderr]).toEqual([0, '', 0, ''])
    const objects = JSON.parse(json.stdout) as Json[]
    expect(objects).toEqual([
      {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name: 'a', namespace: 'team' },
        data: { x: 'yes', y: '1e3', z: 'a\n\n b\n' },
      },
    ])
    expect(read(yaml.stdout)).toEqual(objects.map(comparable))
  })

  test('nothing is an empty text or an empty array', async () => {
    const folder = write(scratch(), { 'kustomization.yaml': 'resources: []\n' })
    expect(await run(folder, 'render', '.')).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(JSON.parse((await run(folder, 'render', '.', '-o', 'json')).stdout)).toEqual([])
  })

  test('characters that readers disagree on are escaped', async () => {
    const value = '"\\uFEFFa b: c"'
    const folder = write(scratch(), {
      'kustomization.yaml': 'resources: [a.yaml]\n',
      'a.yaml': `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  ${value}: ${value}\n`,
    })
    const { code, stdout } = await run(folder, 'render', '.')
    expect(code).toBe(0)
    expect(stdout).toMatch(/^[ -~\n]*$/)
    const text = '\ufeffa b: c'
    expect(read(stdout)).toMatchObject([{ data: { [text]: text } }])
  })

  test('every render case, as kustomize prints it', { timeout: 120_000 }, async context => {
    const program = KUSTOMIZE ?? context.skip('no kustomize on this machine')
    let compared = 0
    for (const fixture of fixtures().filter(({ flux, refused }) => !flux && !refused)) {
      const directory = join(FIXTURES, fixture.name, fixture.target)
      const expected = kustomizeBuild(program, directory)
      const got = await run(FIXTURES, 'render', directory, '--root', join(FIXTURES, fixture.name))
      expect('fails' in expected ? 2 : 0, fixture.name).toBe(got.code)
      if ('objects' in expected) expect(read(got.stdout), fixture.name).toEqual(expected.objects.map(comparable))
      compared++
    }
    expect(compared).toBeGreaterThan(50)
  })
})

describe('the root', () => {
  test('is what --root says: beyond it nothing is read', async () => {
    const folder = write(scratch(), FILES)
    expect((await run(folder, 'render', 'overlay', '--root', '.')).code).toBe(0)
    const { code, stdout, stderr } = await run(folder, 'render', 'overlay', '--root', 'overlay')
    expect([code, stdout]).toEqual([2, ''])
    expect(stderr).toMatch(/^error\[kustomize-invalid\]: .*leaves the repository, at kustomization\.yaml:2\. .*\n$/)
  })

  test('is the top of a working copy: beyond it nothing is read, ignored files are', async () => {
    const outside = write(scratch(), { 'a.yaml': FILES['base/a.yaml'] })
    const folder = join(outside, 'repository')
    mkdirSync(folder)
    repository(folder, { ...FILES, 'out/kustomization.yaml': 'resources: [../../a.yaml]\n', '.gitignore': 'local\n' })
    write(folder, { 'local/kustomization.yaml': 'resources: [../base]\n' })
    expect((await run(join(folder, 'overlay'), 'render', '.')).code).toBe(0)
    expect((await run(folder, 'render', 'local')).code).toBe(0)
    const { code, stderr } = await run(folder, 'render', 'out')
    expect([code, stderr]).toEqual([2, expect.stringContaining('leaves the repository, at out/kustomization.yaml:1')])
    expect(git(folder, 'status', '--porcelain')).toBe('')
  })

  test('may be reached through a link that the person names; links inside are refused', async () => {
    const folder = write(scratch(), FILES)
    symlinkSync(join(folder, 'overlay'), join(folder, 'link'))
    symlinkSync('/etc/passwd', join(folder, 'base', 'b.yaml'))
    expect((await run(folder, 'render', 'link')).code).toBe(0)
    write(folder, { 'base/kustomization.yaml': 'resources: [b.yaml]\n' })
    expect((await run(folder, 'render', 'link')).stderr).toMatch(
      /^error\[kustomize-unsupported\]: "base\/b\.yaml": is a symlink, .* at base\/kustomization\.yaml:1/,
    )
  })
})

describe('origins', () => {
  const origins = async (cwd: string, ...more: string[]) =>
    JSON.parse((await run(cwd, 'render', ...more, '--origins', '-o', 'json')).stdout)[0]

  test('say who an object is and where each value stands, seen from the working directory', async () => {
    const folder = write(scratch(), FILES)
    expect(await origins(join(folder, 'overlay'), '.')).toEqual({
      apiVersion: 'v1',
      kind: 'ConfigMap',
      name: 'a',
      namespace: 'team',
      trail: ['resource ../base/kustomization.yaml:2', 'resource kustomization.yaml:2'],
      origins: {
        '': '../base/a.yaml:1:1',
        '/metadata': '../base/a.yaml:3:1',
        '/data': '../base/a.yaml:5:1',
        '/apiVersion': '../base/a.yaml:1:13',
        '/kind': '../base/a.yaml:2:7',
        '/metadata/name': '../base/a.yaml:4:9',
        '/metadata/namespace': 'kustomization.yaml:3:12',
        '/data/x': '../base/a.yaml:6:6',
        '/data/y': '../base/a.yaml:7:6',
        '/data/z': '../base/a.yaml:8:6',
      },
    })
  })

  test('are relative to a root that is named', async () => {
    const folder = write(scratch(), FILES)
    const { origins: places } = await origins(join(folder, 'base'), '../overlay', '--root', '..')
    expect(places['/metadata/namespace']).toBe('overlay/kustomization.yaml:3:12')
  })

  test('come as yaml, too', async () => {
    const folder = write(scratch(), FILES)
    const [shown] = read((await run(folder, 'render', 'overlay', '--origins')).stdout)
    expect(shown).toMatchObject({ name: 'a', origins: { '/kind': 'base/a.yaml:2:7' } })
  })
})

describe('errors are one line and exit 2', () => {
  const bad: Record<string, { files?: Record<string, string>; argv: string[]; line: RegExp }> = {
    'no directory': {
      argv: [],
      line: /^error\[usage\]: DIR is missing\. usage: bailiwick render \[DIR\] [^\\]*$/,
    },
    'two directories': { argv: ['a', 'b'], line: /^error\[usage\]/ },
    'an unknown format': {
      argv: ['.', '-o', 'xml'],
      line: /^error\[usage\]: -o "xml" is not known\. Allowed: yaml, json\./,
    },
    'an unknown option': { argv: ['.', '--force'], line: /^error\[usage\]/ },
    'no such folder': {
      argv: ['none'],
      line: /^error\[git-missing\]: .*none is not a folder\. Name an existing folder\.$/,
    },
    'a file': { files: { x: '' }, argv: ['x'], line: /^error\[git-missing\]/ },
    'a root beside it': { files: { 'a/x': '', 'b/x': '' }, argv: ['a', '--root', 'b'], line: /^error\[usage\]/ },
    'no kustomization': { argv: ['.'], line: /^error\[kustomize-missing\]: \.\/kustomization\.yaml: does not exist/ },
    'broken YAML': {
      files: { 'k/kustomization.yaml': 'resources: [' },
      argv: ['k'],
      line: /^error\[yaml-syntax\]: kustomization\.yaml: invalid YAML at line 1: .*, at k\/kustomization\.yaml:1\. /,
    },
    'an unknown field': {
      files: { 'k/kustomization.yaml': 'resources: []\ncrds: []\n' },
      argv: ['k'],
      line: /^error\[kustomize-unsupported\]: .*crds.*, at k\/kustomization\.yaml:2/,
    },
    'a name that is an escape sequence': {
      files: { 'kustomization.yaml': 'resources: ["\\e[2J\\n"]\n' },
      argv: ['.'],
      line: /^error\[kustomize-missing\]/,
    },
  }
  for (const [name, { files, argv, line }] of Object.entries(bad)) {
    test(name, async () => {
      const { code, stdout, stderr } = await run(write(scratch(), files ?? {}), 'render', ...argv)
      expect([code, stdout]).toEqual([2, ''])
      expect(stderr.endsWith('\n')).toBe(true)
      expect(stderr.slice(0, -1)).toMatch(line)
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
      expect(stderr.slice(0, -1)).not.toMatch(/[\u0000-\u001f]/)
    })
  }
})
