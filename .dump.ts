import { writeFileSync } from 'node:fs'
import { checkRunOf } from './src/report/check-run.ts'
import { commentOf } from './src/report/comment.ts'
import { EvaluateSession } from './src/verdict/evaluate-sides.ts'
import { changesOf, readCases, treesOf } from './test/attacks/attack-case.ts'
import { evaluateTrees } from './test/attacks/evaluate-trees.ts'
import { worlds } from './test/attacks/worlds/index.ts'
const sessions = new Map([...worlds.values()].map(world => [world, new EvaluateSession()]))
const out: any[] = []
const t = Date.now()
for (const one of readCases()) {
  for (const [name, variant] of one.variants) {
    const before = treesOf(one.world, one.base)
    const { verdict } = evaluateTrees(treesOf(one.world, one.base, changesOf(variant)), before, sessions.get(one.world))
    const all = [...verdict.violations, ...verdict.warnings, ...verdict.errors].filter(x => x.state === 'new')
    const repository = all[0]?.origin.repository ?? ''
    const context = { kind: 'pull-request' as const, repository, headSha: 'a'.repeat(40) }
    const run = checkRunOf(verdict, context)
    out.push({ id: one.id ?? '', name, title: run.title, summary: run.summary, sum: verdict.summary, comment: commentOf(verdict, context), texts: all.map(x => ({ rule: 'rule' in x ? x.rule : 'error:' + x.code, level: 'level' in x ? x.level : 'error', message: x.message, fix: x.fix, typed: x.typed !== undefined, answer: (x as any).clusterAnswer })) })
  }
}
writeFileSync(process.argv[2]!, JSON.stringify(out))
console.log(out.length, Date.now() - t)
