export { resolvePlain } from './yaml/resolve-scalar.ts'
