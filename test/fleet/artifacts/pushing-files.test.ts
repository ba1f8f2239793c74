import { expect, test } from 'vitest'
import { pushingFiles } from '../../../src/fleet/sources/artifact-content.ts'
import { treeOf } from '../../base/git/tree-of.ts'

const PUSH = '.github/workflows/push.yaml'
const at = (files: Record<string, string>, only?: string) => pushingFiles(treeOf(files), only).map(({ path }) => path)

test.each<[string, Record<string, string>, string[]]>([
  ['a program, in any folder', { [PUSH]: 'run: cd hack && ./push.sh', 'hack/push.sh': '' }, ['hack/push.sh']],
  ['what that runs', { [PUSH]: 'hack/a.sh', 'hack/a.sh': '"$DIR"/b', 'lib/b': '' }, ['hack/a.sh', 'lib/b']],
  ['what is run without its name', { [PUSH]: 'make push', Makefile: 'go run', 'main.go': '' }, ['Makefile']],
  ['a file of tasks', { [PUSH]: 'task push', 'Taskfile.yml': '' }, ['Taskfile.yml']],
  [
    'a local action',
    { [PUSH]: '', '.github/actions/x/action.yml': 'dist.js', 'x/dist.js': '' },
    ['.github/actions/x/action.yml', 'x/dist.js'],
  ],
  ['what a link leads to', { [PUSH]: 'run.sh', 'run.sh': 'real.sh', 'hack/real.sh': '' }, ['run.sh', 'hack/real.sh']],
  [
    'no manifest or text',
    { [PUSH]: 'kubectl apply -f apps/web.yaml # README.md', 'apps/web.yaml': '', 'README.md': '' },
    [],
  ],
  ['nothing of JavaScript', { [PUSH]: 'constructor __proto__ toString' }, []],
])('%s', (_name, files, more) => {
  expect(at(files)).toEqual([
    ...more.filter(path => path.startsWith('.github/')),
    PUSH,
    ...more.filter(path => !path.startsWith('.github/')),
  ])
})

test('of one workflow, those that it calls count', () => {
  const files = {
    [PUSH]: 'uses: ./.github/workflows/called.yaml',
    '.github/workflows/called.yaml': 'called.sh',
    '.github/workflows/other.yaml': 'other.sh',
    'called.sh': '',
    'other.sh': '',
  }
  expect(at(files, PUSH)).toEqual([PUSH, '.github/workflows/called.yaml', 'called.sh'])
  expect(at(files)).toHaveLength(5)
})

test('where they are too many, or too large, it is the whole repository', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`hack/${index}/push.sh`, '']))
  expect(at({ [PUSH]: 'push.sh', ...many(199) })).toHaveLength(200)
  expect(at({ [PUSH]: 'push.sh', ...many(200) })).toEqual(['.'])
  const large = { a: '#'.repeat(900_000), b: '#'.repeat(900_000), c: '#'.repeat(900_000), d: '#'.repeat(900_000) }
  expect(at({ [PUSH]: 'a b c d', ...large })).toHaveLength(5)
  expect(at({ [PUSH]: 'a b c d e', ...large, e: '#'.repeat(900_000) })).toEqual(['.'])
})
