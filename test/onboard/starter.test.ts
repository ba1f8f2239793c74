import { expect, test } from 'vitest'
import { parseOnboardArguments } from '../../src/onboard/parse-command.ts'
import { starterFiles } from '../../src/onboard/starter/starter-files.ts'

const request = (...more: string[]) =>
  parseOnboardArguments([
    ...['web-team', '--repo', 'https://github.com/acme/web-team', '--namespace', 'web', '--cluster', 'staging'],
    ...more,
  ])
const paths = (there: readonly string[], ...more: string[]) =>
  starterFiles(request(...more), there).map(({ path }) => path)

test.each([
  ['an empty repository', [], [], ['kustomization.yaml', 'example.yaml', 'README.md']],
  [
    'a directory',
    ['notes.txt'],
    ['--path', './deploy'],
    ['deploy/kustomization.yaml', 'deploy/example.yaml', 'README.md'],
  ],
  ['a directory with YAML that Flux applies as it is', ['deploy/app.yml'], ['--path', './deploy'], ['README.md']],
  ['a kustomization with another name', ['Kustomization', 'x.json'], [], ['README.md']],
  ['workflows are no objects', ['.github/workflows/ci.yaml'], [], ['kustomization.yaml', 'example.yaml', 'README.md']],
  ['a README in another spelling', ['readme.rst', 'a.yaml'], [], []],
  ['owners, in another folder', ['docs/CODEOWNERS', 'README', 'a.yaml'], ['--team', 'acme/web'], []],
])('%s', (_, there, more, wanted) => {
  expect(paths(there, ...more)).toEqual(wanted)
})

test('an unknown way to start is refused', () => {
  expect(() => request('--starter', 'push')).toThrow('--starter "push" is not allowed')
  expect(request('--starter', 'none')).not.toHaveProperty('starter')
})
