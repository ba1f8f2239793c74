import type { Resource } from './resource.ts'
export function fixReferences(_resources: readonly Resource[]): void {}
