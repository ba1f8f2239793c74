import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { at, type MapNode } from '../src/kube/node.ts'
import { idOf, type KubeObject } from '../src/kube/object.ts'
import { parseDocuments } from '../src/kube/yaml/parse-documents.ts'
import { compareObject } from '../src/rules/schema/support/compare-object.ts'
import { NEWEST } from '../src/schema/types-table.ts'
import { quantile } from './growth.ts'

// How many objects the schemas compare in a second of CPU time: `node bench/schemas.ts DIR...`, YAML files of which are read first. The
// first round reads the tables and is told apart.
const ROUNDS = 15

function objectsIn(dir: string): KubeObject[] {
  return globSync('**/*.{yaml,yml}', { cwd: dir }).flatMap(file => {
    try {
      const documents = parseDocuments({ repository: '', path: file }, readFileSync(join(dir, file)))
      const maps = documents.filter((node): node is MapNode => node.type === 'map' && at(node, ['kind']) !== undefined)
      return maps.map(root => ({ root, trail: [] }))
    } catch {
      // a template, or a link that leads nowhere
      return []
    }
  })
}

const none = () => []
const objects = process.argv.slice(2).flatMap(objectsIn)
const seconds: number[] = []
let problems = 0
let known = 0
for (let round = 0; round <= ROUNDS; round++) {
  const started = process.cpuUsage()
  problems = 0
  known = 0
  for (const object of objects) {
    const { answer } = compareObject(object, { minor: NEWEST, isCertain: true }, none, false)
    problems += answer.count
    if (answer.isKnown) known += 1
  }
  const { user, system } = process.cpuUsage(started)
  seconds.push((user + system) / 1e6)
}
const kinds = new Set(objects.map(object => `${idOf(object).apiVersion} ${idOf(object).kind}`))
const rate = (time: number) => `${Math.round(objects.length / time).toLocaleString('en-US')} objects/s`
console.log(`${objects.length} objects of ${kinds.size} kinds, ${known} compared, ${problems} problems`)
console.log(`  first round ${rate(seconds[0]!)}, then (median of ${ROUNDS}) ${rate(quantile(seconds.slice(1), 0.5))}`)
