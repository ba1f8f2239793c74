import { apiVersionOf, GIT_REPOSITORY } from '../../flux/kinds.ts'
import type { Tree } from '../../git/tree.ts'
import { mapNode, textNode } from '../../kube/edit-node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { ChartSource, IncludedSource } from '../model/fleet.ts'
import { ASKED, WANTED } from '../model/unread.ts'
import type { Reader } from '../sources/ask-read.ts'
import { askedBy } from '../sources/decide-read.ts'
import { mayRead } from '../sources/may-read.ts'
import type { NodeContext } from './node-context.ts'

/**
 * The repositories at a commit that the build of a platform's node names. They are read like the source of a GitRepository
 * that the platform declares in the change: by what the base declares, because they are public, or because everybody who
 * brought the change may read them.
 */
export class NodeRemotes {
  private readonly context: NodeContext
  private readonly kustomization: KubeObject
  private readonly reader: Reader
  private readonly found = new Map<string, { readonly source: ChartSource; readonly tree?: Tree }>()

  constructor(context: NodeContext, kustomization: KubeObject, reader: Reader) {
    this.context = context
    this.kustomization = kustomization
    this.reader = reader
  }

  /** The content of one; undefined where it is not at hand, or may not be read. */
  find(url: string, commit: string): Tree | undefined {
    const id = `Commit/${url}@${commit}`
    const known = this.found.get(id)
    if (known) return known.tree
    const { access, sources, asked } = this.context
    const resolved = sources.at(url, { commit }, mayRead(access, this.reader).ask(this.declaration(url, commit), url))
    const source = { id, url, ref: { commit }, commit }
    if (resolved.type === 'content') {
      this.found.set(id, { source, tree: resolved.artifact.tree })
      return resolved.artifact.tree
    }
    if (resolved.type === 'wanted' && resolved.asks) asked.push(askedBy(url, resolved.asks))
    const opaque = resolved.type === 'opaque' ? resolved.reason : resolved.asks ? ASKED : WANTED
    this.found.set(id, { source: { ...source, commit: '', opaque } })
    return undefined
  }

  /** Those whose content is in what was built. */
  get read(): readonly IncludedSource[] {
    return [...this.found.values()].filter(({ tree }) => tree !== undefined).map(({ source }) => source)
  }

  /** Those that are not at hand. */
  get absent(): readonly ChartSource[] {
    return [...this.found.values()].filter(({ tree }) => tree === undefined).map(({ source }) => source)
  }

  /** What a GitRepository that follows the commit would be, written where the Kustomization is. */
  private declaration(url: string, commit: string): KubeObject {
    const { origin } = this.kustomization.root
    const text = (value: string) => textNode(value, origin)
    const { namespace } = idOf(this.kustomization)
    const root = mapNode(
      [
        ['apiVersion', text(apiVersionOf(GIT_REPOSITORY))],
        ['kind', text('GitRepository')],
        [
          'metadata',
          mapNode(
            [
              ['name', text(`${url}@${commit}`)],
              ['namespace', text(namespace)],
            ],
            origin,
          ),
        ],
        ['spec', mapNode([['url', text(url)]], origin)],
      ],
      origin,
    )
    return { root, trail: [] }
  }
}
