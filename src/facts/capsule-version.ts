import { HELM_RELEASE, OCI_REPOSITORY } from '../flux/kinds.ts'
import { at, stringAt } from '../kube/node.ts'
import { idOf } from '../kube/object.ts'
import type { Rendered } from './object-table.ts'

const IMAGE = /\/capsule:v?(\S+)$/
const FORM = /^\D{0,3}0\.(\d+)(?:\.(\d+))?/

/**
 * The version of Capsule that the platform's objects of a cluster install, as minor version and patch in thousandths (0.12.4:
 * 12.004); of a range its start. Undefined: not to be seen. Charts before 0.7 count differently, so they are 0.3.
 */
export function capsuleVersion(platform: (kind: string) => readonly Rendered[]): number | undefined {
  const charts = platform(HELM_RELEASE).map(({ object }) => {
    const chart = at(object.root, ['spec', 'chart', 'spec'])
    if (stringAt(chart, ['chart']) === 'capsule') return read(stringAt(chart, ['version']))
    const source = platform(OCI_REPOSITORY).find(one => {
      const { name, namespace } = idOf(one.object)
      const written = stringAt(object.root, ['spec', 'chartRef', 'namespace']) || idOf(object).namespace
      return name === stringAt(object.root, ['spec', 'chartRef', 'name']) && namespace === written
    })?.object.root
    if (!stringAt(source, ['spec', 'url'])?.endsWith('/capsule')) return undefined
    return read(stringAt(source, ['spec', 'ref', 'tag']) ?? stringAt(source, ['spec', 'ref', 'semver']))
  })
  const images = ['apps/Deployment', 'apps/DaemonSet'].flatMap(platform).map(({ object }) => {
    const containers = at(object.root, ['spec', 'template', 'spec', 'containers'])
    const found = containers?.type === 'list' ? containers.items.map(one => stringAt(one, ['image']) ?? '') : []
    return read(found.map(image => IMAGE.exec(image)?.[1]).find(one => one !== undefined))
  })
  const chart = charts.find(one => one !== undefined)
  return images.find(one => one !== undefined) ?? (chart !== undefined && chart < 7 ? 3 : chart)
}

/** The newest minor version whose webhooks are known. */
const NEWEST = 14

/** The minor version of what capsuleVersion gives; the newest known one where nothing shows it. */
export const minorOf = (version: number | undefined): number => Math.floor(version ?? NEWEST)

function read(text: string | undefined): number | undefined {
  const [, minor, patch = '0'] = FORM.exec(text ?? '') ?? []
  return minor === undefined || text?.startsWith('<') ? undefined : Number(minor) + Number(patch) / 1000
}
