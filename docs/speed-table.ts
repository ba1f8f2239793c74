import { figuresIn } from '../bench/results.ts'

const BEGIN = '<!-- speed: written by npm run generate from bench/RESULTS.md -->\n'
const END = '<!-- end of speed -->\n'

/** What README.md tells of bench/RESULTS.md: the figure, what it is, what people run instead, the command. */
const ROWS = [
  [
    'verdict: 400 tenants, cold, fleet alone',
    "first verdict of a fleet's repository, 400 tenants on two clusters",
    '`kustomize build` of each overlay and base',
    'bench:verdict',
  ],
  [
    'verdict: 400 tenants, cold, all repositories',
    "the same with every tenant's repository",
    '`kustomize build` of each overlay and base',
    'bench:verdict',
  ],
  [
    'verdict: 400 tenants, warm, one file of a tenant',
    'the next verdict, for one changed file of a tenant',
    'the first verdict again',
    'bench:verdict',
  ],
  ['render: 500 objects', 'one overlay of 500 objects', '`kustomize build`', 'bench:render'],
  [
    'worker: one changed, 50 beside it',
    'one changed Kustomization beside 50 others, applied',
    'kustomize-controller',
    'bench:worker',
  ],
] as const

/** README.md with the table of speeds. Throws where RESULTS.md lacks a figure. */
export function withSpeedTable(readme: string, results: string): string {
  const figures = figuresIn(results)
  const lines = ROWS.map(([name, what, peer, command]) => {
    const { wall, cpu, ratio } = figures.get(name) ?? {}
    const time = wall ?? cpu
    if (time === undefined || ratio === undefined) throw new Error(`bench/RESULTS.md has no "${name}"`)
    const share = ratio < 0.005 ? 'less than 0.01' : String(ratio)
    return `| ${what} | ${time} ms | ${peer} | ${share} | \`npm run ${command}\` |`
  })
  const [before = '', rest] = [readme.split(BEGIN)[0], readme.split(END)[1]]
  if (rest === undefined) throw new Error(`README.md has no place for the speeds: ${END}`)
  const head = '| what | Bailiwick | instead | share of its time | command |\n|---|---|---|---|---|'
  return `${before}${BEGIN}${head}\n${lines.join('\n')}\n${END}${rest}`
}
