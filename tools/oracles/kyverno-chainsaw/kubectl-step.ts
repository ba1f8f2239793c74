import { at, type Node } from '../../../src/kube/node.ts'
import type { ChainsawStep, Fields } from './read-chainsaw.ts'

/** The files of a test by their names in its scripts; undefined: there is none. */
interface Files {
  objects(name: string): readonly Fields[] | undefined
  text(name: string): string | undefined
}

/** Commands that change nothing of the cluster. */
const LOOKS = /^(?:kubectl (?:-n \S+ )?(?:get|wait|logs|describe|version|events?)\b|sleep|echo|true|set -|exit|#|$)/

/**
 * What a script writes: commands of `commandStep` without `if`, and one as the condition of an `if` whose branches exit. Nothing for a
 * script that only looks; any other is a step of its own, after which the cluster is not known.
 */
export function kubectlStep(content: string, node: Node, files: Files): ChainsawStep[] {
  const script = content.trim()
  const inner = /^(?:bash |sh )?(\.\/[\w.-]+\.sh)$/.exec(script)
  const own = inner ? files.text(inner[1]!) : undefined
  if (own !== undefined) return kubectlStep(own.replace(/^#!.*$/m, ''), node, files)
  const branch = /^(.*?)\bif\s+(!\s*)?(kubectl [^\n;]*?)\s*;?\s*then\b(.*?)\belse\b(.*?)\bfi;?$/s.exec(script)
  const lines = (branch ? branch[1]! : script).split(/\n|;\s|&& /).map(line => line.trim())
  const plain = lines.filter(line => !LOOKS.test(line))
  const check = at(node, ['check'])
  const isLast = (at: number) => !branch && at === plain.length - 1
  const steps = plain.map((line, at) => commandStep(line, isLast(at) ? expectsError(check) : undefined, files))
  if (branch) {
    const [, , not, command, then = '', other = ''] = branch
    const [first, second] = [then, other].map(part => /exit (\d)/.exec(part)?.[1])
    const [isFine, isBad] = not ? [second, first] : [first, second]
    if ((isFine === '0') === (isBad === '0')) return [unknown(script)]
    steps.push(commandStep(command!, isFine !== '0', files))
  }
  return steps.some(step => !step) ? [unknown(script)] : (steps as ChainsawStep[])
}

/** `check` of a script; without one it must succeed. */
function expectsError(check: Node | undefined): boolean | undefined {
  if (check?.type !== 'map') return false
  for (const [key, { value }] of check.fields) {
    const written = value.type === 'scalar' ? value.value : undefined
    if (/^\(\$error [!=]= null\)$/.test(key) && typeof written === 'boolean') return key.includes('!=') === written
    if (/contains\(\$std\w+, '(?:denied|.*blocked)/.test(key)) return written === true
  }
  return undefined
}

const OF_FILES =
  /^kubectl (?:(?:-n|--namespace)[ =](\S+) )?(apply|create|replace|delete)((?: (?:-f|--filename)[ =]?\S+| (?:-n|--namespace)[ =]\S+| --as[ =]\S+| --wait=\w+| --force| --ignore-not-found(?:=true)?)+)$/
const LABEL = /^kubectl label (?:po|pod) (\S+) ([\w./-]+)=([\w.-]*)(?: --overwrite)?(?: (?:-n|--namespace)[ =](\S+))?$/
const RUN = /^kubectl run (?:--image[= ](\S+) )?([\w-]+)(?: --image[= ](\S+))?(?: (?:-n|--namespace)[ =](\S+))?$/
/** The output of a command that is denied. */
const DENIAL = /^(.*?)(?: 2>&1)? ?\| ?grep -q ["'](?:validation error|.*denied|.*blocked)[^|]*$/

/** `kubectl apply|create|replace|delete -f FILE`, `kubectl label pod`, `kubectl run`; undefined for others. */
function commandStep(written: string, isFailure: boolean | undefined, files: Files): ChainsawStep | undefined {
  const text = written.replaceAll(/\s+/g, ' ').replace(/ 2>&1$/, '')
  const [, command = text] = DENIAL.exec(text) ?? []
  const isRefused = command === text || isFailure === undefined ? isFailure : !isFailure
  const step = (verb: ChainsawStep['verb'], objects: readonly Fields[], namespace = 'default', user?: string) => ({
    ...{ verb, objects, isRefused: () => isRefused },
    // kubectl does not know the namespace of the test
    ...(namespace === '$NAMESPACE' ? {} : { namespace }),
    ...(user === undefined ? {} : { user }),
  })
  const [, before, verb, rest = ''] = OF_FILES.exec(command) ?? []
  if (verb !== undefined) {
    const objects = files.objects(/(?:-f|--filename)[ =]?(\S+)/.exec(rest)?.[1] ?? '')
    const namespace = before ?? /(?:-n|--namespace)[ =](\S+)/.exec(rest)?.[1]
    const user = /--as[ =](\S+)/.exec(rest)?.[1]
    const own = verb === 'replace' ? 'update' : (verb as 'apply' | 'create' | 'delete')
    return objects && step(own, objects, namespace, user)
  }
  const [, pod, key, value, place] = LABEL.exec(command) ?? []
  if (pod !== undefined)
    return step(
      'patch',
      [{ apiVersion: 'v1', kind: 'Pod', metadata: { name: pod, labels: { [key!]: value! } } }],
      place,
    )
  const [, first, name, image = first, own] = RUN.exec(command) ?? []
  if (name === undefined || image === undefined) return undefined
  const metadata = { name, labels: { run: name } }
  const spec = { containers: [{ name, image, resources: {} }], dnsPolicy: 'ClusterFirst', restartPolicy: 'Always' }
  return step('create', [{ apiVersion: 'v1', kind: 'Pod', metadata, spec }], own)
}

const unknown = (script: string): ChainsawStep => ({
  verb: 'script',
  objects: [],
  isRefused: () => undefined,
  script,
})
