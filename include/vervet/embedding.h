/* Declarations of the embedding API: the functions of Mono 6.8's public headers, in the order in which they need one another.
 *
 * A program includes <mono/jit/jit.h> and its companions as for mono; each of them is this file. docs/embedding.md has the rules. */
#ifndef VERVET_EMBEDDING_H
#define VERVET_EMBEDDING_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MONO_API
#define MONO_CONST_RETURN const
#define MONO_ZERO_LEN_ARRAY 1
#ifdef __cplusplus
#define MONO_BEGIN_DECLS extern "C" {
#define MONO_END_DECLS }
#else
#define MONO_BEGIN_DECLS
#define MONO_END_DECLS
#endif

#define MONO_ALLOCATOR_VTABLE_VERSION 1
#define MONO_CLASS_IS_IMPORT(c) ((mono_class_get_flags (c) & TYPE_ATTRIBUTE_IMPORT))
#define MONO_CLASS_IS_INTERFACE(c) ((mono_class_get_flags (c) & TYPE_ATTRIBUTE_INTERFACE) || mono_type_is_generic_parameter (mono_class_get_type (c)))
#define MONO_CUSTOM_PREFIX 0xf0
#define MONO_DEBUGGER_MAGIC 0x7aff65af4253d427ULL
#define MONO_DEBUGGER_MAJOR_VERSION 81
#define MONO_DEBUGGER_MINOR_VERSION 6
#define MONO_DEBUG_VAR_ADDRESS_MODE_DEAD 0x30000000
#define MONO_DEBUG_VAR_ADDRESS_MODE_FLAGS 0xf0000000
#define MONO_DEBUG_VAR_ADDRESS_MODE_GSHAREDVT_LOCAL 0x50000000
#define MONO_DEBUG_VAR_ADDRESS_MODE_REGISTER 0
#define MONO_DEBUG_VAR_ADDRESS_MODE_REGOFFSET 0x10000000
#define MONO_DEBUG_VAR_ADDRESS_MODE_REGOFFSET_INDIR 0x40000000
#define MONO_DEBUG_VAR_ADDRESS_MODE_TWO_REGISTERS 0x20000000
#define MONO_DEBUG_VAR_ADDRESS_MODE_VTADDR 0x60000000
#define MONO_DECLSEC_ACTION_MAX 0x12
#define MONO_DECLSEC_ACTION_MIN 0x1
#define MONO_MARSHAL_CONV_INVALID ((MonoMarshalConv)-1)
#define MONO_OFFSET_IN_CLAUSE(clause,offset) ((clause)->try_offset <= (offset) && (offset) < ((clause)->try_offset + (clause)->try_len))
#define MONO_OFFSET_IN_FILTER(clause,offset) ((clause)->flags == MONO_EXCEPTION_CLAUSE_FILTER && (clause)->data.filter_offset <= (offset) && (offset) < ((clause)->handler_offset))
#define MONO_OFFSET_IN_HANDLER(clause,offset) ((clause)->handler_offset <= (offset) && (offset) < ((clause)->handler_offset + (clause)->handler_len))
#define MONO_PROFILER_API_VERSION 3
#define MONO_TABLE_LAST MONO_TABLE_CUSTOMDEBUGINFORMATION
#define MONO_TABLE_NUM (MONO_TABLE_LAST + 1)
#define MONO_TYPE_ISSTRUCT(t) mono_type_is_struct (t)
#define MONO_TYPE_IS_POINTER(t) mono_type_is_pointer (t)
#define MONO_TYPE_IS_REFERENCE(t) mono_type_is_reference (t)
#define MONO_TYPE_IS_VOID(t) mono_type_is_void (t)
#define mono_metadata_make_token(table,idx) (((table) << 24)| (idx))
#define mono_metadata_table_count(bitfield) ((bitfield) >> 24)
#define mono_metadata_table_size(bitfield,table) ((((bitfield) >> ((table)*2)) & 0x3) + 1)
#define mono_metadata_token_code(token) ((token) & 0xff000000)
#define mono_metadata_token_index(token) ((token) & 0xffffff)
#define mono_metadata_token_table(token) ((token) >> 24)

/* Elements of arrays, and stores of references that the collector hears of. */
#define mono_array_addr(array, type, index) ((type *)mono_array_addr_with_size((array), sizeof(type), (index)))
#define mono_array_get(array, type, index) (*mono_array_addr((array), type, (index)))
#define mono_array_set(array, type, index, value) ((void)(*mono_array_addr((array), type, (index)) = (value)))
#define mono_array_setref(array, index, value) \
    mono_gc_wbarrier_set_arrayref((array), mono_array_addr((array), void *, (index)), (MonoObject *)(value))
#define mono_array_memcpy_refs(to, to_index, from, from_index, count) \
    mono_gc_wbarrier_arrayref_copy(mono_array_addr((to), void *, (to_index)), mono_array_addr((from), void *, (from_index)), (count))
#define MONO_OBJECT_SETREF(object, field, value) \
    mono_gc_wbarrier_set_field((MonoObject *)(object), &(object)->field, (MonoObject *)(value))
#define MONO_STRUCT_SETREF(place, field, value) mono_gc_wbarrier_generic_store(&(place)->field, (MonoObject *)(value))

MONO_BEGIN_DECLS

typedef int32_t mono_bool;
typedef uint8_t mono_byte;
typedef mono_byte MonoBoolean;
typedef uint16_t mono_unichar2;
typedef uint32_t mono_unichar4;
typedef void (*MonoFunc) (void *data, void *user_data);
typedef void (*MonoHFunc) (void *key, void *value, void *user_data);
void mono_free(void *);
typedef struct {
    int version;
    void *(*malloc) (size_t size);
    void *(*realloc) (void *mem, size_t count);
    void (*free) (void *mem);
    void *(*calloc) (size_t count, size_t size);
} MonoAllocatorVTable;
mono_bool mono_set_allocator_vtable(MonoAllocatorVTable *vtable);
typedef struct _MonoDomain MonoDomain;
typedef struct _MonoJitInfo MonoJitInfo;
typedef struct _MonoClass MonoClass;
typedef struct _MonoImage MonoImage;
typedef struct _MonoMethod MonoMethod;
typedef struct _MonoObject MonoObject;
typedef struct _MonoException MonoException;
typedef struct _MonoReflectionAssembly MonoReflectionAssembly;
typedef struct _MonoReflectionTypeBuilder MonoReflectionTypeBuilder;
typedef enum {
    MONO_TYPE_END = 0x00,
    MONO_TYPE_VOID = 0x01,
    MONO_TYPE_BOOLEAN = 0x02,
    MONO_TYPE_CHAR = 0x03,
    MONO_TYPE_I1 = 0x04,
    MONO_TYPE_U1 = 0x05,
    MONO_TYPE_I2 = 0x06,
    MONO_TYPE_U2 = 0x07,
    MONO_TYPE_I4 = 0x08,
    MONO_TYPE_U4 = 0x09,
    MONO_TYPE_I8 = 0x0a,
    MONO_TYPE_U8 = 0x0b,
    MONO_TYPE_R4 = 0x0c,
    MONO_TYPE_R8 = 0x0d,
    MONO_TYPE_STRING = 0x0e,
    MONO_TYPE_PTR = 0x0f,
    MONO_TYPE_BYREF = 0x10,
    MONO_TYPE_VALUETYPE = 0x11,
    MONO_TYPE_CLASS = 0x12,
    MONO_TYPE_VAR = 0x13,
    MONO_TYPE_ARRAY = 0x14,
    MONO_TYPE_GENERICINST= 0x15,
    MONO_TYPE_TYPEDBYREF = 0x16,
    MONO_TYPE_I = 0x18,
    MONO_TYPE_U = 0x19,
    MONO_TYPE_FNPTR = 0x1b,
    MONO_TYPE_OBJECT = 0x1c,
    MONO_TYPE_SZARRAY = 0x1d,
    MONO_TYPE_MVAR = 0x1e,
    MONO_TYPE_CMOD_REQD = 0x1f,
    MONO_TYPE_CMOD_OPT = 0x20,
    MONO_TYPE_INTERNAL = 0x21,
    MONO_TYPE_MODIFIER = 0x40,
    MONO_TYPE_SENTINEL = 0x41,
    MONO_TYPE_PINNED = 0x45,
    MONO_TYPE_ENUM = 0x55,
} MonoTypeEnum;
typedef enum {
    MONO_TABLE_MODULE,
    MONO_TABLE_TYPEREF,
    MONO_TABLE_TYPEDEF,
    MONO_TABLE_FIELD_POINTER,
    MONO_TABLE_FIELD,
    MONO_TABLE_METHOD_POINTER,
    MONO_TABLE_METHOD,
    MONO_TABLE_PARAM_POINTER,
    MONO_TABLE_PARAM,
    MONO_TABLE_INTERFACEIMPL,
    MONO_TABLE_MEMBERREF,
    MONO_TABLE_CONSTANT,
    MONO_TABLE_CUSTOMATTRIBUTE,
    MONO_TABLE_FIELDMARSHAL,
    MONO_TABLE_DECLSECURITY,
    MONO_TABLE_CLASSLAYOUT,
    MONO_TABLE_FIELDLAYOUT,
    MONO_TABLE_STANDALONESIG,
    MONO_TABLE_EVENTMAP,
    MONO_TABLE_EVENT_POINTER,
    MONO_TABLE_EVENT,
    MONO_TABLE_PROPERTYMAP,
    MONO_TABLE_PROPERTY_POINTER,
    MONO_TABLE_PROPERTY,
    MONO_TABLE_METHODSEMANTICS,
    MONO_TABLE_METHODIMPL,
    MONO_TABLE_MODULEREF,
    MONO_TABLE_TYPESPEC,
    MONO_TABLE_IMPLMAP,
    MONO_TABLE_FIELDRVA,
    MONO_TABLE_UNUSED6,
    MONO_TABLE_UNUSED7,
    MONO_TABLE_ASSEMBLY,
    MONO_TABLE_ASSEMBLYPROCESSOR,
    MONO_TABLE_ASSEMBLYOS,
    MONO_TABLE_ASSEMBLYREF,
    MONO_TABLE_ASSEMBLYREFPROCESSOR,
    MONO_TABLE_ASSEMBLYREFOS,
    MONO_TABLE_FILE,
    MONO_TABLE_EXPORTEDTYPE,
    MONO_TABLE_MANIFESTRESOURCE,
    MONO_TABLE_NESTEDCLASS,
    MONO_TABLE_GENERICPARAM,
    MONO_TABLE_METHODSPEC,
    MONO_TABLE_GENERICPARAMCONSTRAINT,
    MONO_TABLE_UNUSED8,
    MONO_TABLE_UNUSED9,
    MONO_TABLE_UNUSED10,
    MONO_TABLE_DOCUMENT,
    MONO_TABLE_METHODBODY,
    MONO_TABLE_LOCALSCOPE,
    MONO_TABLE_LOCALVARIABLE,
    MONO_TABLE_LOCALCONSTANT,
    MONO_TABLE_IMPORTSCOPE,
    MONO_TABLE_STATEMACHINEMETHOD,
    MONO_TABLE_CUSTOMDEBUGINFORMATION,
} MonoMetaTableEnum;
enum {
    MONO_ASSEMBLY_HASH_ALG,
    MONO_ASSEMBLY_MAJOR_VERSION,
    MONO_ASSEMBLY_MINOR_VERSION,
    MONO_ASSEMBLY_BUILD_NUMBER,
    MONO_ASSEMBLY_REV_NUMBER,
    MONO_ASSEMBLY_FLAGS,
    MONO_ASSEMBLY_PUBLIC_KEY,
    MONO_ASSEMBLY_NAME,
    MONO_ASSEMBLY_CULTURE,
    MONO_ASSEMBLY_SIZE,
};
enum {
    MONO_ASSEMBLYOS_PLATFORM,
    MONO_ASSEMBLYOS_MAJOR_VERSION,
    MONO_ASSEMBLYOS_MINOR_VERSION,
    MONO_ASSEMBLYOS_SIZE,
};
enum {
    MONO_ASSEMBLY_PROCESSOR,
    MONO_ASSEMBLY_PROCESSOR_SIZE,
};
enum {
    MONO_ASSEMBLYREF_MAJOR_VERSION,
    MONO_ASSEMBLYREF_MINOR_VERSION,
    MONO_ASSEMBLYREF_BUILD_NUMBER,
    MONO_ASSEMBLYREF_REV_NUMBER,
    MONO_ASSEMBLYREF_FLAGS,
    MONO_ASSEMBLYREF_PUBLIC_KEY,
    MONO_ASSEMBLYREF_NAME,
    MONO_ASSEMBLYREF_CULTURE,
    MONO_ASSEMBLYREF_HASH_VALUE,
    MONO_ASSEMBLYREF_SIZE,
};
enum {
    MONO_ASSEMBLYREFOS_PLATFORM,
    MONO_ASSEMBLYREFOS_MAJOR_VERSION,
    MONO_ASSEMBLYREFOS_MINOR_VERSION,
    MONO_ASSEMBLYREFOS_ASSEMBLYREF,
    MONO_ASSEMBLYREFOS_SIZE,
};
enum {
    MONO_ASSEMBLYREFPROC_PROCESSOR,
    MONO_ASSEMBLYREFPROC_ASSEMBLYREF,
    MONO_ASSEMBLYREFPROC_SIZE,
};
enum {
    MONO_CLASS_LAYOUT_PACKING_SIZE,
    MONO_CLASS_LAYOUT_CLASS_SIZE,
    MONO_CLASS_LAYOUT_PARENT,
    MONO_CLASS_LAYOUT_SIZE,
};
enum {
    MONO_CONSTANT_TYPE,
    MONO_CONSTANT_PADDING,
    MONO_CONSTANT_PARENT,
    MONO_CONSTANT_VALUE,
    MONO_CONSTANT_SIZE,
};
enum {
    MONO_CUSTOM_ATTR_PARENT,
    MONO_CUSTOM_ATTR_TYPE,
    MONO_CUSTOM_ATTR_VALUE,
    MONO_CUSTOM_ATTR_SIZE,
};
enum {
    MONO_DECL_SECURITY_ACTION,
    MONO_DECL_SECURITY_PARENT,
    MONO_DECL_SECURITY_PERMISSIONSET,
    MONO_DECL_SECURITY_SIZE,
};
enum {
    MONO_EVENT_MAP_PARENT,
    MONO_EVENT_MAP_EVENTLIST,
    MONO_EVENT_MAP_SIZE,
};
enum {
    MONO_EVENT_FLAGS,
    MONO_EVENT_NAME,
    MONO_EVENT_TYPE,
    MONO_EVENT_SIZE,
};
enum {
    MONO_EVENT_POINTER_EVENT,
    MONO_EVENT_POINTER_SIZE,
};
enum {
    MONO_EXP_TYPE_FLAGS,
    MONO_EXP_TYPE_TYPEDEF,
    MONO_EXP_TYPE_NAME,
    MONO_EXP_TYPE_NAMESPACE,
    MONO_EXP_TYPE_IMPLEMENTATION,
    MONO_EXP_TYPE_SIZE,
};
enum {
    MONO_FIELD_FLAGS,
    MONO_FIELD_NAME,
    MONO_FIELD_SIGNATURE,
    MONO_FIELD_SIZE,
};
enum {
    MONO_FIELD_LAYOUT_OFFSET,
    MONO_FIELD_LAYOUT_FIELD,
    MONO_FIELD_LAYOUT_SIZE,
};
enum {
    MONO_FIELD_MARSHAL_PARENT,
    MONO_FIELD_MARSHAL_NATIVE_TYPE,
    MONO_FIELD_MARSHAL_SIZE,
};
enum {
    MONO_FIELD_POINTER_FIELD,
    MONO_FIELD_POINTER_SIZE,
};
enum {
    MONO_FIELD_RVA_RVA,
    MONO_FIELD_RVA_FIELD,
    MONO_FIELD_RVA_SIZE,
};
enum {
    MONO_FILE_FLAGS,
    MONO_FILE_NAME,
    MONO_FILE_HASH_VALUE,
    MONO_FILE_SIZE,
};
enum {
    MONO_IMPLMAP_FLAGS,
    MONO_IMPLMAP_MEMBER,
    MONO_IMPLMAP_NAME,
    MONO_IMPLMAP_SCOPE,
    MONO_IMPLMAP_SIZE,
};
enum {
    MONO_INTERFACEIMPL_CLASS,
    MONO_INTERFACEIMPL_INTERFACE,
    MONO_INTERFACEIMPL_SIZE,
};
enum {
    MONO_MANIFEST_OFFSET,
    MONO_MANIFEST_FLAGS,
    MONO_MANIFEST_NAME,
    MONO_MANIFEST_IMPLEMENTATION,
    MONO_MANIFEST_SIZE,
};
enum {
    MONO_MEMBERREF_CLASS,
    MONO_MEMBERREF_NAME,
    MONO_MEMBERREF_SIGNATURE,
    MONO_MEMBERREF_SIZE,
};
enum {
    MONO_METHOD_RVA,
    MONO_METHOD_IMPLFLAGS,
    MONO_METHOD_FLAGS,
    MONO_METHOD_NAME,
    MONO_METHOD_SIGNATURE,
    MONO_METHOD_PARAMLIST,
    MONO_METHOD_SIZE,
};
enum {
    MONO_METHODIMPL_CLASS,
    MONO_METHODIMPL_BODY,
    MONO_METHODIMPL_DECLARATION,
    MONO_METHODIMPL_SIZE,
};
enum {
    MONO_METHOD_POINTER_METHOD,
    MONO_METHOD_POINTER_SIZE,
};
enum {
    MONO_METHOD_SEMA_SEMANTICS,
    MONO_METHOD_SEMA_METHOD,
    MONO_METHOD_SEMA_ASSOCIATION,
    MONO_METHOD_SEMA_SIZE,
};
enum {
    MONO_MODULE_GENERATION,
    MONO_MODULE_NAME,
    MONO_MODULE_MVID,
    MONO_MODULE_ENC,
    MONO_MODULE_ENCBASE,
    MONO_MODULE_SIZE,
};
enum {
    MONO_MODULEREF_NAME,
    MONO_MODULEREF_SIZE,
};
enum {
    MONO_NESTED_CLASS_NESTED,
    MONO_NESTED_CLASS_ENCLOSING,
    MONO_NESTED_CLASS_SIZE,
};
enum {
    MONO_PARAM_FLAGS,
    MONO_PARAM_SEQUENCE,
    MONO_PARAM_NAME,
    MONO_PARAM_SIZE,
};
enum {
    MONO_PARAM_POINTER_PARAM,
    MONO_PARAM_POINTER_SIZE,
};
enum {
    MONO_PROPERTY_FLAGS,
    MONO_PROPERTY_NAME,
    MONO_PROPERTY_TYPE,
    MONO_PROPERTY_SIZE,
};
enum {
    MONO_PROPERTY_POINTER_PROPERTY,
    MONO_PROPERTY_POINTER_SIZE,
};
enum {
    MONO_PROPERTY_MAP_PARENT,
    MONO_PROPERTY_MAP_PROPERTY_LIST,
    MONO_PROPERTY_MAP_SIZE,
};
enum {
    MONO_STAND_ALONE_SIGNATURE,
    MONO_STAND_ALONE_SIGNATURE_SIZE,
};
enum {
    MONO_TYPEDEF_FLAGS,
    MONO_TYPEDEF_NAME,
    MONO_TYPEDEF_NAMESPACE,
    MONO_TYPEDEF_EXTENDS,
    MONO_TYPEDEF_FIELD_LIST,
    MONO_TYPEDEF_METHOD_LIST,
    MONO_TYPEDEF_SIZE,
};
enum {
    MONO_TYPEREF_SCOPE,
    MONO_TYPEREF_NAME,
    MONO_TYPEREF_NAMESPACE,
    MONO_TYPEREF_SIZE,
};
enum {
    MONO_TYPESPEC_SIGNATURE,
    MONO_TYPESPEC_SIZE,
};
enum {
    MONO_GENERICPARAM_NUMBER,
    MONO_GENERICPARAM_FLAGS,
    MONO_GENERICPARAM_OWNER,
    MONO_GENERICPARAM_NAME,
    MONO_GENERICPARAM_SIZE,
};
enum {
    MONO_METHODSPEC_METHOD,
    MONO_METHODSPEC_SIGNATURE,
    MONO_METHODSPEC_SIZE,
};
enum {
    MONO_GENPARCONSTRAINT_GENERICPAR,
    MONO_GENPARCONSTRAINT_CONSTRAINT,
    MONO_GENPARCONSTRAINT_SIZE,
};
enum {
    MONO_DOCUMENT_NAME,
    MONO_DOCUMENT_HASHALG,
    MONO_DOCUMENT_HASH,
    MONO_DOCUMENT_LANGUAGE,
    MONO_DOCUMENT_SIZE,
};
enum {
    MONO_METHODBODY_DOCUMENT,
    MONO_METHODBODY_SEQ_POINTS,
    MONO_METHODBODY_SIZE,
};
enum {
    MONO_LOCALSCOPE_METHOD,
    MONO_LOCALSCOPE_IMPORTSCOPE,
    MONO_LOCALSCOPE_VARIABLELIST,
    MONO_LOCALSCOPE_CONSTANTLIST,
    MONO_LOCALSCOPE_STARTOFFSET,
    MONO_LOCALSCOPE_LENGTH,
    MONO_LOCALSCOPE_SIZE,
};
enum {
    MONO_LOCALVARIABLE_ATTRIBUTES,
    MONO_LOCALVARIABLE_INDEX,
    MONO_LOCALVARIABLE_NAME,
    MONO_LOCALVARIABLE_SIZE,
};
enum {
    MONO_CUSTOMDEBUGINFORMATION_PARENT,
    MONO_CUSTOMDEBUGINFORMATION_KIND,
    MONO_CUSTOMDEBUGINFORMATION_VALUE,
    MONO_CUSTOMDEBUGINFORMATION_SIZE,
};
enum {
    MONO_TYPEDEFORREF_TYPEDEF,
    MONO_TYPEDEFORREF_TYPEREF,
    MONO_TYPEDEFORREF_TYPESPEC,
    MONO_TYPEDEFORREF_BITS = 2,
    MONO_TYPEDEFORREF_MASK = 3,
};
enum {
    MONO_HASCONSTANT_FIEDDEF,
    MONO_HASCONSTANT_PARAM,
    MONO_HASCONSTANT_PROPERTY,
    MONO_HASCONSTANT_BITS = 2,
    MONO_HASCONSTANT_MASK = 3,
};
enum {
    MONO_CUSTOM_ATTR_METHODDEF,
    MONO_CUSTOM_ATTR_FIELDDEF,
    MONO_CUSTOM_ATTR_TYPEREF,
    MONO_CUSTOM_ATTR_TYPEDEF,
    MONO_CUSTOM_ATTR_PARAMDEF,
    MONO_CUSTOM_ATTR_INTERFACE,
    MONO_CUSTOM_ATTR_MEMBERREF,
    MONO_CUSTOM_ATTR_MODULE,
    MONO_CUSTOM_ATTR_PERMISSION,
    MONO_CUSTOM_ATTR_PROPERTY,
    MONO_CUSTOM_ATTR_EVENT,
    MONO_CUSTOM_ATTR_SIGNATURE,
    MONO_CUSTOM_ATTR_MODULEREF,
    MONO_CUSTOM_ATTR_TYPESPEC,
    MONO_CUSTOM_ATTR_ASSEMBLY,
    MONO_CUSTOM_ATTR_ASSEMBLYREF,
    MONO_CUSTOM_ATTR_FILE,
    MONO_CUSTOM_ATTR_EXP_TYPE,
    MONO_CUSTOM_ATTR_MANIFEST,
    MONO_CUSTOM_ATTR_GENERICPAR,
    MONO_CUSTOM_ATTR_GENERICPARAMCONSTRAINT,
    MONO_CUSTOM_ATTR_BITS = 5,
    MONO_CUSTOM_ATTR_MASK = 0x1F,
};
enum {
    MONO_HAS_FIELD_MARSHAL_FIELDSREF,
    MONO_HAS_FIELD_MARSHAL_PARAMDEF,
    MONO_HAS_FIELD_MARSHAL_BITS = 1,
    MONO_HAS_FIELD_MARSHAL_MASK = 1,
};
enum {
    MONO_HAS_DECL_SECURITY_TYPEDEF,
    MONO_HAS_DECL_SECURITY_METHODDEF,
    MONO_HAS_DECL_SECURITY_ASSEMBLY,
    MONO_HAS_DECL_SECURITY_BITS = 2,
    MONO_HAS_DECL_SECURITY_MASK = 3,
};
enum {
    MONO_MEMBERREF_PARENT_TYPEDEF,
    MONO_MEMBERREF_PARENT_TYPEREF,
    MONO_MEMBERREF_PARENT_MODULEREF,
    MONO_MEMBERREF_PARENT_METHODDEF,
    MONO_MEMBERREF_PARENT_TYPESPEC,
    MONO_MEMBERREF_PARENT_BITS = 3,
    MONO_MEMBERREF_PARENT_MASK = 7,
};
enum {
    MONO_HAS_SEMANTICS_EVENT,
    MONO_HAS_SEMANTICS_PROPERTY,
    MONO_HAS_SEMANTICS_BITS = 1,
    MONO_HAS_SEMANTICS_MASK = 1,
};
enum {
    MONO_METHODDEFORREF_METHODDEF,
    MONO_METHODDEFORREF_METHODREF,
    MONO_METHODDEFORREF_BITS = 1,
    MONO_METHODDEFORREF_MASK = 1,
};
enum {
    MONO_MEMBERFORWD_FIELDDEF,
    MONO_MEMBERFORWD_METHODDEF,
    MONO_MEMBERFORWD_BITS = 1,
    MONO_MEMBERFORWD_MASK = 1,
};
enum {
    MONO_IMPLEMENTATION_FILE,
    MONO_IMPLEMENTATION_ASSEMBLYREF,
    MONO_IMPLEMENTATION_EXP_TYPE,
    MONO_IMPLEMENTATION_BITS = 2,
    MONO_IMPLEMENTATION_MASK = 3,
};
enum {
    MONO_CUSTOM_ATTR_TYPE_TYPEREF,
    MONO_CUSTOM_ATTR_TYPE_TYPEDEF,
    MONO_CUSTOM_ATTR_TYPE_METHODDEF,
    MONO_CUSTOM_ATTR_TYPE_MEMBERREF,
    MONO_CUSTOM_ATTR_TYPE_STRING,
    MONO_CUSTOM_ATTR_TYPE_BITS = 3,
    MONO_CUSTOM_ATTR_TYPE_MASK = 7,
};
enum {
    MONO_RESOLUTION_SCOPE_MODULE,
    MONO_RESOLUTION_SCOPE_MODULEREF,
    MONO_RESOLUTION_SCOPE_ASSEMBLYREF,
    MONO_RESOLUTION_SCOPE_TYPEREF,
    MONO_RESOLUTION_SCOPE_BITS = 2,
    MONO_RESOLUTION_SCOPE_MASK = 3,
};
enum {
    MONO_RESOLTION_SCOPE_MODULE,
    MONO_RESOLTION_SCOPE_MODULEREF,
    MONO_RESOLTION_SCOPE_ASSEMBLYREF,
    MONO_RESOLTION_SCOPE_TYPEREF,
    MONO_RESOLTION_SCOPE_BITS = 2,
    MONO_RESOLTION_SCOPE_MASK = 3,
};
enum {
    MONO_TYPEORMETHOD_TYPE,
    MONO_TYPEORMETHOD_METHOD,
    MONO_TYPEORMETHOD_BITS = 1,
    MONO_TYPEORMETHOD_MASK = 1,
};
enum {
    MONO_ERROR_FREE_STRINGS = 0x0001,
    MONO_ERROR_INCOMPLETE = 0x0002,
    MONO_ERROR_MEMPOOL_BOXED = 0x0004,
};
enum {
    MONO_ERROR_NONE = 0,
    MONO_ERROR_MISSING_METHOD = 1,
    MONO_ERROR_MISSING_FIELD = 2,
    MONO_ERROR_TYPE_LOAD = 3,
    MONO_ERROR_FILE_NOT_FOUND = 4,
    MONO_ERROR_BAD_IMAGE = 5,
    MONO_ERROR_OUT_OF_MEMORY = 6,
    MONO_ERROR_ARGUMENT = 7,
    MONO_ERROR_ARGUMENT_NULL = 11,
    MONO_ERROR_ARGUMENT_OUT_OF_RANGE = 14,
    MONO_ERROR_NOT_VERIFIABLE = 8,
    MONO_ERROR_INVALID_PROGRAM = 12,
    MONO_ERROR_MEMBER_ACCESS = 13,
    MONO_ERROR_GENERIC = 9,
    MONO_ERROR_EXCEPTION_INSTANCE = 10,
    MONO_ERROR_CLEANUP_CALLED_SENTINEL = 0xffff,
};
typedef union _MonoError {
    uint32_t init;
    struct { uint16_t error_code;
    uint16_t private_flags;
    void *hidden_1 [12];
    };
} MonoErrorExternal;
typedef MonoErrorExternal MonoError;
typedef struct _MonoErrorBoxed MonoErrorBoxed;
void mono_error_init(MonoError *error);
void mono_error_init_flags(MonoError *error, unsigned short flags);
void mono_error_cleanup(MonoError *error);
mono_bool mono_error_ok(MonoError *error);
unsigned short mono_error_get_error_code(MonoError *error);
const char *mono_error_get_message(MonoError *error);
typedef struct _MonoAssembly MonoAssembly;
typedef struct _MonoAssemblyName MonoAssemblyName;
typedef struct _MonoTableInfo MonoTableInfo;
typedef enum {
    MONO_IMAGE_OK,
    MONO_IMAGE_ERROR_ERRNO,
    MONO_IMAGE_MISSING_ASSEMBLYREF,
    MONO_IMAGE_IMAGE_INVALID,
} MonoImageOpenStatus;
void mono_images_init(void);
void mono_images_cleanup(void);
MonoImage *mono_image_open(const char *fname, MonoImageOpenStatus *status);
MonoImage *mono_image_open_full(const char *fname, MonoImageOpenStatus *status, mono_bool refonly);
MonoImage *mono_pe_file_open(const char *fname, MonoImageOpenStatus *status);
MonoImage *mono_image_open_from_data(char *data, uint32_t data_len, mono_bool need_copy, MonoImageOpenStatus *status);
MonoImage *mono_image_open_from_data_full(char *data, uint32_t data_len, mono_bool need_copy, MonoImageOpenStatus *status, mono_bool refonly);
MonoImage *mono_image_open_from_data_with_name(char *data, uint32_t data_len, mono_bool need_copy, MonoImageOpenStatus *status, mono_bool refonly, const char *name);
void mono_image_fixup_vtable(MonoImage *image);
MonoImage *mono_image_loaded(const char *name);
MonoImage *mono_image_loaded_full(const char *name, mono_bool refonly);
MonoImage *mono_image_loaded_by_guid(const char *guid);
MonoImage *mono_image_loaded_by_guid_full(const char *guid, mono_bool refonly);
void mono_image_init(MonoImage *image);
void mono_image_close(MonoImage *image);
void mono_image_addref(MonoImage *image);
const char *mono_image_strerror(MonoImageOpenStatus status);
int mono_image_ensure_section(MonoImage *image, const char *section);
int mono_image_ensure_section_idx(MonoImage *image, int section);
uint32_t mono_image_get_entry_point(MonoImage *image);
const char *mono_image_get_resource(MonoImage *image, uint32_t offset, uint32_t *size);
MonoImage *mono_image_load_file_for_image(MonoImage *image, int fileidx);
MonoImage *mono_image_load_module(MonoImage *image, int idx);
const char *mono_image_get_name(MonoImage *image);
const char *mono_image_get_filename(MonoImage *image);
const char *mono_image_get_guid(MonoImage *image);
MonoAssembly *mono_image_get_assembly(MonoImage *image);
mono_bool mono_image_is_dynamic(MonoImage *image);
char *mono_image_rva_map(MonoImage *image, uint32_t rva);
const MonoTableInfo *mono_image_get_table_info(MonoImage *image, int table_id);
int mono_image_get_table_rows(MonoImage *image, int table_id);
int mono_table_info_get_rows(const MonoTableInfo *table);
void *mono_image_lookup_resource(MonoImage *image, uint32_t res_id, uint32_t lang_id, mono_unichar2 *name);
const char *mono_image_get_public_key(MonoImage *image, uint32_t *size);
const char *mono_image_get_strong_name(MonoImage *image, uint32_t *size);
uint32_t mono_image_strong_name_position(MonoImage *image, uint32_t *size);
void mono_image_add_to_name_cache(MonoImage *image, const char *nspace, const char *name, uint32_t idx);
mono_bool mono_image_has_authenticode_entry(MonoImage *image);
typedef enum {
    MONO_EXCEPTION_CLAUSE_NONE,
    MONO_EXCEPTION_CLAUSE_FILTER,
    MONO_EXCEPTION_CLAUSE_FINALLY,
    MONO_EXCEPTION_CLAUSE_FAULT = 4,
} MonoExceptionEnum;
typedef enum {
    MONO_CALL_DEFAULT,
    MONO_CALL_C,
    MONO_CALL_STDCALL,
    MONO_CALL_THISCALL,
    MONO_CALL_FASTCALL,
    MONO_CALL_VARARG,
} MonoCallConvention;
typedef enum {
    MONO_NATIVE_BOOLEAN = 0x02,
    MONO_NATIVE_I1 = 0x03,
    MONO_NATIVE_U1 = 0x04,
    MONO_NATIVE_I2 = 0x05,
    MONO_NATIVE_U2 = 0x06,
    MONO_NATIVE_I4 = 0x07,
    MONO_NATIVE_U4 = 0x08,
    MONO_NATIVE_I8 = 0x09,
    MONO_NATIVE_U8 = 0x0a,
    MONO_NATIVE_R4 = 0x0b,
    MONO_NATIVE_R8 = 0x0c,
    MONO_NATIVE_CURRENCY = 0x0f,
    MONO_NATIVE_BSTR = 0x13,
    MONO_NATIVE_LPSTR = 0x14,
    MONO_NATIVE_LPWSTR = 0x15,
    MONO_NATIVE_LPTSTR = 0x16,
    MONO_NATIVE_BYVALTSTR = 0x17,
    MONO_NATIVE_IUNKNOWN = 0x19,
    MONO_NATIVE_IDISPATCH = 0x1a,
    MONO_NATIVE_STRUCT = 0x1b,
    MONO_NATIVE_INTERFACE = 0x1c,
    MONO_NATIVE_SAFEARRAY = 0x1d,
    MONO_NATIVE_BYVALARRAY = 0x1e,
    MONO_NATIVE_INT = 0x1f,
    MONO_NATIVE_UINT = 0x20,
    MONO_NATIVE_VBBYREFSTR = 0x22,
    MONO_NATIVE_ANSIBSTR = 0x23,
    MONO_NATIVE_TBSTR = 0x24,
    MONO_NATIVE_VARIANTBOOL = 0x25,
    MONO_NATIVE_FUNC = 0x26,
    MONO_NATIVE_ASANY = 0x28,
    MONO_NATIVE_LPARRAY = 0x2a,
    MONO_NATIVE_LPSTRUCT = 0x2b,
    MONO_NATIVE_CUSTOM = 0x2c,
    MONO_NATIVE_ERROR = 0x2d,
    MONO_NATIVE_UTF8STR = 0x30,
    MONO_NATIVE_MAX = 0x50,
} MonoMarshalNative;
typedef enum {
    MONO_VARIANT_EMPTY = 0x00,
    MONO_VARIANT_NULL = 0x01,
    MONO_VARIANT_I2 = 0x02,
    MONO_VARIANT_I4 = 0x03,
    MONO_VARIANT_R4 = 0x04,
    MONO_VARIANT_R8 = 0x05,
    MONO_VARIANT_CY = 0x06,
    MONO_VARIANT_DATE = 0x07,
    MONO_VARIANT_BSTR = 0x08,
    MONO_VARIANT_DISPATCH = 0x09,
    MONO_VARIANT_ERROR = 0x0a,
    MONO_VARIANT_BOOL = 0x0b,
    MONO_VARIANT_VARIANT = 0x0c,
    MONO_VARIANT_UNKNOWN = 0x0d,
    MONO_VARIANT_DECIMAL = 0x0e,
    MONO_VARIANT_I1 = 0x10,
    MONO_VARIANT_UI1 = 0x11,
    MONO_VARIANT_UI2 = 0x12,
    MONO_VARIANT_UI4 = 0x13,
    MONO_VARIANT_I8 = 0x14,
    MONO_VARIANT_UI8 = 0x15,
    MONO_VARIANT_INT = 0x16,
    MONO_VARIANT_UINT = 0x17,
    MONO_VARIANT_VOID = 0x18,
    MONO_VARIANT_HRESULT = 0x19,
    MONO_VARIANT_PTR = 0x1a,
    MONO_VARIANT_SAFEARRAY = 0x1b,
    MONO_VARIANT_CARRAY = 0x1c,
    MONO_VARIANT_USERDEFINED = 0x1d,
    MONO_VARIANT_LPSTR = 0x1e,
    MONO_VARIANT_LPWSTR = 0x1f,
    MONO_VARIANT_RECORD = 0x24,
    MONO_VARIANT_FILETIME = 0x40,
    MONO_VARIANT_BLOB = 0x41,
    MONO_VARIANT_STREAM = 0x42,
    MONO_VARIANT_STORAGE = 0x43,
    MONO_VARIANT_STREAMED_OBJECT = 0x44,
    MONO_VARIANT_STORED_OBJECT = 0x45,
    MONO_VARIANT_BLOB_OBJECT = 0x46,
    MONO_VARIANT_CF = 0x47,
    MONO_VARIANT_CLSID = 0x48,
    MONO_VARIANT_VECTOR = 0x1000,
    MONO_VARIANT_ARRAY = 0x2000,
    MONO_VARIANT_BYREF = 0x4000,
} MonoMarshalVariant;
typedef enum {
    MONO_MARSHAL_CONV_NONE,
    MONO_MARSHAL_CONV_BOOL_VARIANTBOOL,
    MONO_MARSHAL_CONV_BOOL_I4,
    MONO_MARSHAL_CONV_STR_BSTR,
    MONO_MARSHAL_CONV_STR_LPSTR,
    MONO_MARSHAL_CONV_LPSTR_STR,
    MONO_MARSHAL_CONV_LPTSTR_STR,
    MONO_MARSHAL_CONV_STR_LPWSTR,
    MONO_MARSHAL_CONV_LPWSTR_STR,
    MONO_MARSHAL_CONV_STR_LPTSTR,
    MONO_MARSHAL_CONV_STR_ANSIBSTR,
    MONO_MARSHAL_CONV_STR_TBSTR,
    MONO_MARSHAL_CONV_STR_BYVALSTR,
    MONO_MARSHAL_CONV_STR_BYVALWSTR,
    MONO_MARSHAL_CONV_SB_LPSTR,
    MONO_MARSHAL_CONV_SB_LPTSTR,
    MONO_MARSHAL_CONV_SB_LPWSTR,
    MONO_MARSHAL_CONV_LPSTR_SB,
    MONO_MARSHAL_CONV_LPTSTR_SB,
    MONO_MARSHAL_CONV_LPWSTR_SB,
    MONO_MARSHAL_CONV_ARRAY_BYVALARRAY,
    MONO_MARSHAL_CONV_ARRAY_BYVALCHARARRAY,
    MONO_MARSHAL_CONV_ARRAY_SAVEARRAY,
    MONO_MARSHAL_CONV_ARRAY_LPARRAY,
    MONO_MARSHAL_FREE_LPARRAY,
    MONO_MARSHAL_CONV_OBJECT_INTERFACE,
    MONO_MARSHAL_CONV_OBJECT_IDISPATCH,
    MONO_MARSHAL_CONV_OBJECT_IUNKNOWN,
    MONO_MARSHAL_CONV_OBJECT_STRUCT,
    MONO_MARSHAL_CONV_DEL_FTN,
    MONO_MARSHAL_CONV_FTN_DEL,
    MONO_MARSHAL_FREE_ARRAY,
    MONO_MARSHAL_CONV_BSTR_STR,
    MONO_MARSHAL_CONV_SAFEHANDLE,
    MONO_MARSHAL_CONV_HANDLEREF,
    MONO_MARSHAL_CONV_STR_UTF8STR,
    MONO_MARSHAL_CONV_SB_UTF8STR,
    MONO_MARSHAL_CONV_UTF8STR_STR,
    MONO_MARSHAL_CONV_UTF8STR_SB,
    MONO_MARSHAL_CONV_FIXED_BUFFER,
} MonoMarshalConv;
typedef struct {
    MonoMarshalNative native;
    union { struct { MonoMarshalNative elem_type;
    int32_t num_elem;
    int16_t param_num;
    int16_t elem_mult;
    } array_data;
    struct { char *custom_name;
    char *cookie;
    MonoImage *image;
    } custom_data;
    struct { MonoMarshalVariant elem_type;
    int32_t num_elem;
    } safearray_data;
    } data;
} MonoMarshalSpec;
void mono_metadata_init(void);
void mono_metadata_decode_row(const MonoTableInfo *t, int idx, uint32_t *res, int res_size);
uint32_t mono_metadata_decode_row_col(const MonoTableInfo *t, int idx, unsigned int col);
int mono_metadata_compute_size(MonoImage *meta, int tableindex, uint32_t *result_bitfield);
const char *mono_metadata_locate(MonoImage *meta, int table, int idx);
const char *mono_metadata_locate_token(MonoImage *meta, uint32_t token);
const char *mono_metadata_string_heap(MonoImage *meta, uint32_t table_index);
const char *mono_metadata_blob_heap(MonoImage *meta, uint32_t table_index);
const char *mono_metadata_user_string(MonoImage *meta, uint32_t table_index);
const char *mono_metadata_guid_heap(MonoImage *meta, uint32_t table_index);
uint32_t mono_metadata_typedef_from_field(MonoImage *meta, uint32_t table_index);
uint32_t mono_metadata_typedef_from_method(MonoImage *meta, uint32_t table_index);
uint32_t mono_metadata_nested_in_typedef(MonoImage *meta, uint32_t table_index);
uint32_t mono_metadata_nesting_typedef(MonoImage *meta, uint32_t table_index, uint32_t start_index);
MonoClass * *mono_metadata_interfaces_from_typedef(MonoImage *meta, uint32_t table_index, unsigned int *count);
uint32_t mono_metadata_events_from_typedef(MonoImage *meta, uint32_t table_index, unsigned int *end_idx);
uint32_t mono_metadata_methods_from_event(MonoImage *meta, uint32_t table_index, unsigned int *end);
uint32_t mono_metadata_properties_from_typedef(MonoImage *meta, uint32_t table_index, unsigned int *end);
uint32_t mono_metadata_methods_from_property(MonoImage *meta, uint32_t table_index, unsigned int *end);
uint32_t mono_metadata_packing_from_typedef(MonoImage *meta, uint32_t table_index, uint32_t *packing, uint32_t *size);
const char *mono_metadata_get_marshal_info(MonoImage *meta, uint32_t idx, mono_bool is_field);
uint32_t mono_metadata_custom_attrs_from_index(MonoImage *meta, uint32_t cattr_index);
MonoMarshalSpec *mono_metadata_parse_marshal_spec(MonoImage *image, const char *ptr);
void mono_metadata_free_marshal_spec(MonoMarshalSpec *spec);
uint32_t mono_metadata_implmap_from_method(MonoImage *meta, uint32_t method_idx);
void mono_metadata_field_info(MonoImage *meta, uint32_t table_index, uint32_t *offset, uint32_t *rva, MonoMarshalSpec * *marshal_spec);
uint32_t mono_metadata_get_constant_index(MonoImage *meta, uint32_t token, uint32_t hint);
uint32_t mono_metadata_decode_value(const char *ptr, const char * *rptr);
int32_t mono_metadata_decode_signed_value(const char *ptr, const char * *rptr);
uint32_t mono_metadata_decode_blob_size(const char *ptr, const char * *rptr);
void mono_metadata_encode_value(uint32_t value, char *bug, char * *endbuf);
typedef struct {
    uint32_t flags;
    uint32_t try_offset;
    uint32_t try_len;
    uint32_t handler_offset;
    uint32_t handler_len;
    union { uint32_t filter_offset;
    MonoClass *catch_class;
    } data;
} MonoExceptionClause;
typedef struct _MonoType MonoType;
typedef struct _MonoGenericInst MonoGenericInst;
typedef struct _MonoGenericClass MonoGenericClass;
typedef struct _MonoGenericContext MonoGenericContext;
typedef struct _MonoGenericContainer MonoGenericContainer;
typedef struct _MonoGenericParam MonoGenericParam;
typedef struct _MonoArrayType MonoArrayType;
typedef struct _MonoMethodSignature MonoMethodSignature;
typedef struct invalid_name MonoGenericMethod;
typedef struct {
    unsigned int required : 1;
    unsigned int token : 31;
} MonoCustomMod;
typedef struct _MonoCustomModContainer {
    uint8_t count;
    MonoImage *image;
    MonoCustomMod modifiers [1];
} MonoCustomModContainer;
struct _MonoArrayType {
    MonoClass *eklass;
    uint8_t rank;
    uint8_t numsizes;
    uint8_t numlobounds;
    int *sizes;
    int *lobounds;
};
typedef struct _MonoMethodHeader MonoMethodHeader;
typedef enum {
    MONO_PARSE_TYPE,
    MONO_PARSE_MOD_TYPE,
    MONO_PARSE_LOCAL,
    MONO_PARSE_PARAM,
    MONO_PARSE_RET,
    MONO_PARSE_FIELD,
} MonoParseTypeMode;
mono_bool mono_type_is_byref(MonoType *type);
int mono_type_get_type(MonoType *type);
MonoMethodSignature *mono_type_get_signature(MonoType *type);
MonoClass *mono_type_get_class(MonoType *type);
MonoArrayType *mono_type_get_array_type(MonoType *type);
MonoType *mono_type_get_ptr_type(MonoType *type);
MonoClass *mono_type_get_modifiers(MonoType *type, mono_bool *is_required, void * *iter);
mono_bool mono_type_is_struct(MonoType *type);
mono_bool mono_type_is_void(MonoType *type);
mono_bool mono_type_is_pointer(MonoType *type);
mono_bool mono_type_is_reference(MonoType *type);
mono_bool mono_type_is_generic_parameter(MonoType *type);
MonoType *mono_signature_get_return_type(MonoMethodSignature *sig);
MonoType *mono_signature_get_params(MonoMethodSignature *sig, void * *iter);
uint32_t mono_signature_get_param_count(MonoMethodSignature *sig);
uint32_t mono_signature_get_call_conv(MonoMethodSignature *sig);
int mono_signature_vararg_start(MonoMethodSignature *sig);
mono_bool mono_signature_is_instance(MonoMethodSignature *sig);
mono_bool mono_signature_explicit_this(MonoMethodSignature *sig);
mono_bool mono_signature_param_is_out(MonoMethodSignature *sig, int param_num);
uint32_t mono_metadata_parse_typedef_or_ref(MonoImage *m, const char *ptr, const char * *rptr);
int mono_metadata_parse_custom_mod(MonoImage *m, MonoCustomMod *dest, const char *ptr, const char * *rptr);
MonoArrayType *mono_metadata_parse_array(MonoImage *m, const char *ptr, const char * *rptr);
void mono_metadata_free_array(MonoArrayType *array);
MonoType *mono_metadata_parse_type(MonoImage *m, MonoParseTypeMode mode, short opt_attrs, const char *ptr, const char * *rptr);
MonoType *mono_metadata_parse_param(MonoImage *m, const char *ptr, const char * *rptr);
MonoType *mono_metadata_parse_field_type(MonoImage *m, short field_flags, const char *ptr, const char * *rptr);
MonoType *mono_type_create_from_typespec(MonoImage *image, uint32_t type_spec);
void mono_metadata_free_type(MonoType *type);
int mono_type_size(MonoType *type, int *alignment);
int mono_type_stack_size(MonoType *type, int *alignment);
mono_bool mono_type_generic_inst_is_valuetype(MonoType *type);
mono_bool mono_metadata_generic_class_is_valuetype(MonoGenericClass *gclass);
unsigned int mono_metadata_type_hash(MonoType *t1);
mono_bool mono_metadata_type_equal(MonoType *t1, MonoType *t2);
MonoMethodSignature *mono_metadata_signature_alloc(MonoImage *image, uint32_t nparams);
MonoMethodSignature *mono_metadata_signature_dup(MonoMethodSignature *sig);
MonoMethodSignature *mono_metadata_parse_signature(MonoImage *image, uint32_t token);
MonoMethodSignature *mono_metadata_parse_method_signature(MonoImage *m, int def, const char *ptr, const char * *rptr);
void mono_metadata_free_method_signature(MonoMethodSignature *method);
mono_bool mono_metadata_signature_equal(MonoMethodSignature *sig1, MonoMethodSignature *sig2);
unsigned int mono_signature_hash(MonoMethodSignature *sig);
MonoMethodHeader *mono_metadata_parse_mh(MonoImage *m, const char *ptr);
void mono_metadata_free_mh(MonoMethodHeader *mh);
const unsigned char *mono_method_header_get_code(MonoMethodHeader *header, uint32_t *code_size, uint32_t *max_stack);
MonoType * *mono_method_header_get_locals(MonoMethodHeader *header, uint32_t *num_locals, mono_bool *init_locals);
int mono_method_header_get_num_clauses(MonoMethodHeader *header);
int mono_method_header_get_clauses(MonoMethodHeader *header, MonoMethod *method, void * *iter, MonoExceptionClause *clause);
uint32_t mono_type_to_unmanaged(MonoType *type, MonoMarshalSpec *mspec, mono_bool as_field, mono_bool unicode, MonoMarshalConv *conv);
uint32_t mono_metadata_token_from_dor(uint32_t dor_index);
char *mono_guid_to_string(const uint8_t *guid);
char *mono_guid_to_string_minimal(const uint8_t *guid);
uint32_t mono_metadata_declsec_from_index(MonoImage *meta, uint32_t idx);
uint32_t mono_metadata_translate_token_index(MonoImage *image, int table, uint32_t idx);
void mono_metadata_decode_table_row(MonoImage *image, int table, int idx, uint32_t *res, int res_size);
uint32_t mono_metadata_decode_table_row_col(MonoImage *image, int table, int idx, unsigned int col);
typedef mono_bool (*MonoStackWalk) (MonoMethod *method, int32_t native_offset, int32_t il_offset, mono_bool managed, void *data);
MonoMethod *mono_get_method(MonoImage *image, uint32_t token, MonoClass *klass);
MonoMethod *mono_get_method_full(MonoImage *image, uint32_t token, MonoClass *klass, MonoGenericContext *context);
MonoMethod *mono_get_method_constrained(MonoImage *image, uint32_t token, MonoClass *constrained_class, MonoGenericContext *context, MonoMethod * *cil_method);
void mono_free_method(MonoMethod *method);
MonoMethodSignature *mono_method_get_signature_full(MonoMethod *method, MonoImage *image, uint32_t token, MonoGenericContext *context);
MonoMethodSignature *mono_method_get_signature(MonoMethod *method, MonoImage *image, uint32_t token);
MonoMethodSignature *mono_method_signature(MonoMethod *method);
MonoMethodHeader *mono_method_get_header(MonoMethod *method);
const char *mono_method_get_name(MonoMethod *method);
MonoClass *mono_method_get_class(MonoMethod *method);
uint32_t mono_method_get_token(MonoMethod *method);
uint32_t mono_method_get_flags(MonoMethod *method, uint32_t *iflags);
uint32_t mono_method_get_index(MonoMethod *method);
void mono_add_internal_call(const char *name, const void *method);
void mono_dangerous_add_raw_internal_call(const char *name, const void *method);
void *mono_lookup_internal_call(MonoMethod *method);
const char *mono_lookup_icall_symbol(MonoMethod *m);
void mono_dllmap_insert(MonoImage *assembly, const char *dll, const char *func, const char *tdll, const char *tfunc);
void *mono_lookup_pinvoke_call(MonoMethod *method, const char * *exc_class, const char * *exc_arg);
void mono_method_get_param_names(MonoMethod *method, const char * *names);
uint32_t mono_method_get_param_token(MonoMethod *method, int idx);
void mono_method_get_marshal_info(MonoMethod *method, MonoMarshalSpec * *mspecs);
mono_bool mono_method_has_marshal_info(MonoMethod *method);
MonoMethod *mono_method_get_last_managed(void);
void mono_stack_walk(MonoStackWalk func, void *user_data);
void mono_stack_walk_no_il(MonoStackWalk func, void *user_data);
typedef mono_bool (*MonoStackWalkAsyncSafe) (MonoMethod *method, MonoDomain *domain, void *base_address, int offset, void *data);
void mono_stack_walk_async_safe(MonoStackWalkAsyncSafe func, void *initial_sig_context, void *user_data);
MonoMethodHeader *mono_method_get_header_checked(MonoMethod *method, MonoError *error);
typedef struct MonoVTable MonoVTable;
typedef struct _MonoClassField MonoClassField;
typedef struct _MonoProperty MonoProperty;
typedef struct _MonoEvent MonoEvent;
MonoClass *mono_class_get(MonoImage *image, uint32_t type_token);
MonoClass *mono_class_get_full(MonoImage *image, uint32_t type_token, MonoGenericContext *context);
mono_bool mono_class_init(MonoClass *klass);
MonoVTable *mono_class_vtable(MonoDomain *domain, MonoClass *klass);
MonoClass *mono_class_from_name(MonoImage *image, const char *name_space, const char *name);
MonoClass *mono_class_from_name_case(MonoImage *image, const char *name_space, const char *name);
MonoMethod *mono_class_get_method_from_name_flags(MonoClass *klass, const char *name, int param_count, int flags);
MonoClass *mono_class_from_typeref(MonoImage *image, uint32_t type_token);
MonoClass *mono_class_from_typeref_checked(MonoImage *image, uint32_t type_token, MonoError *error);
MonoClass *mono_class_from_generic_parameter(MonoGenericParam *param, MonoImage *image, mono_bool is_mvar);
MonoType *mono_class_inflate_generic_type(MonoType *type, MonoGenericContext *context);
MonoMethod *mono_class_inflate_generic_method(MonoMethod *method, MonoGenericContext *context);
MonoMethod *mono_get_inflated_method(MonoMethod *method);
MonoClassField *mono_field_from_token(MonoImage *image, uint32_t token, MonoClass * *retklass, MonoGenericContext *context);
MonoClass *mono_bounded_array_class_get(MonoClass *element_class, uint32_t rank, mono_bool bounded);
MonoClass *mono_array_class_get(MonoClass *element_class, uint32_t rank);
MonoClass *mono_ptr_class_get(MonoType *type);
MonoClassField *mono_class_get_field(MonoClass *klass, uint32_t field_token);
MonoClassField *mono_class_get_field_from_name(MonoClass *klass, const char *name);
uint32_t mono_class_get_field_token(MonoClassField *field);
uint32_t mono_class_get_event_token(MonoEvent *event);
MonoProperty *mono_class_get_property_from_name(MonoClass *klass, const char *name);
uint32_t mono_class_get_property_token(MonoProperty *prop);
int32_t mono_array_element_size(MonoClass *ac);
int32_t mono_class_instance_size(MonoClass *klass);
int32_t mono_class_array_element_size(MonoClass *klass);
int32_t mono_class_data_size(MonoClass *klass);
int32_t mono_class_value_size(MonoClass *klass, uint32_t *align);
int32_t mono_class_min_align(MonoClass *klass);
MonoClass *mono_class_from_mono_type(MonoType *type);
mono_bool mono_class_is_subclass_of(MonoClass *klass, MonoClass *klassc, mono_bool check_interfaces);
mono_bool mono_class_is_assignable_from(MonoClass *klass, MonoClass *oklass);
void *mono_ldtoken(MonoImage *image, uint32_t token, MonoClass * *retclass, MonoGenericContext *context);
char *mono_type_get_name(MonoType *type);
MonoType *mono_type_get_underlying_type(MonoType *type);
MonoImage *mono_class_get_image(MonoClass *klass);
MonoClass *mono_class_get_element_class(MonoClass *klass);
mono_bool mono_class_is_valuetype(MonoClass *klass);
mono_bool mono_class_is_enum(MonoClass *klass);
MonoType *mono_class_enum_basetype(MonoClass *klass);
MonoClass *mono_class_get_parent(MonoClass *klass);
MonoClass *mono_class_get_nesting_type(MonoClass *klass);
int mono_class_get_rank(MonoClass *klass);
uint32_t mono_class_get_flags(MonoClass *klass);
const char *mono_class_get_name(MonoClass *klass);
const char *mono_class_get_namespace(MonoClass *klass);
MonoType *mono_class_get_type(MonoClass *klass);
uint32_t mono_class_get_type_token(MonoClass *klass);
MonoType *mono_class_get_byref_type(MonoClass *klass);
int mono_class_num_fields(MonoClass *klass);
int mono_class_num_methods(MonoClass *klass);
int mono_class_num_properties(MonoClass *klass);
int mono_class_num_events(MonoClass *klass);
MonoClassField *mono_class_get_fields(MonoClass *klass, void * *iter);
MonoMethod *mono_class_get_methods(MonoClass *klass, void * *iter);
MonoProperty *mono_class_get_properties(MonoClass *klass, void * *iter);
MonoEvent *mono_class_get_events(MonoClass *klass, void * *iter);
MonoClass *mono_class_get_interfaces(MonoClass *klass, void * *iter);
MonoClass *mono_class_get_nested_types(MonoClass *klass, void * *iter);
mono_bool mono_class_is_delegate(MonoClass *klass);
mono_bool mono_class_implements_interface(MonoClass *klass, MonoClass *iface);
const char *mono_field_get_name(MonoClassField *field);
MonoType *mono_field_get_type(MonoClassField *field);
MonoClass *mono_field_get_parent(MonoClassField *field);
uint32_t mono_field_get_flags(MonoClassField *field);
uint32_t mono_field_get_offset(MonoClassField *field);
const char *mono_field_get_data(MonoClassField *field);
const char *mono_property_get_name(MonoProperty *prop);
MonoMethod *mono_property_get_set_method(MonoProperty *prop);
MonoMethod *mono_property_get_get_method(MonoProperty *prop);
MonoClass *mono_property_get_parent(MonoProperty *prop);
uint32_t mono_property_get_flags(MonoProperty *prop);
const char *mono_event_get_name(MonoEvent *event);
MonoMethod *mono_event_get_add_method(MonoEvent *event);
MonoMethod *mono_event_get_remove_method(MonoEvent *event);
MonoMethod *mono_event_get_remove_method(MonoEvent *event);
MonoMethod *mono_event_get_raise_method(MonoEvent *event);
MonoClass *mono_event_get_parent(MonoEvent *event);
uint32_t mono_event_get_flags(MonoEvent *event);
MonoMethod *mono_class_get_method_from_name(MonoClass *klass, const char *name, int param_count);
char *mono_class_name_from_token(MonoImage *image, uint32_t type_token);
mono_bool mono_method_can_access_field(MonoMethod *method, MonoClassField *field);
mono_bool mono_method_can_access_method(MonoMethod *method, MonoMethod *called);
mono_bool mono_class_is_nullable(MonoClass *klass);
MonoClass *mono_class_get_nullable_param(MonoClass *klass);
typedef struct _MonoString MonoString;
typedef struct _MonoArray MonoArray;
typedef struct _MonoReflectionMethod MonoReflectionMethod;
typedef struct _MonoReflectionModule MonoReflectionModule;
typedef struct _MonoReflectionField MonoReflectionField;
typedef struct _MonoReflectionProperty MonoReflectionProperty;
typedef struct _MonoReflectionEvent MonoReflectionEvent;
typedef struct _MonoReflectionType MonoReflectionType;
typedef struct _MonoDelegate MonoDelegate;
typedef struct _MonoThreadsSync MonoThreadsSync;
typedef struct _MonoThread MonoThread;
typedef struct _MonoDynamicAssembly MonoDynamicAssembly;
typedef struct _MonoDynamicImage MonoDynamicImage;
typedef struct _MonoReflectionMethodBody MonoReflectionMethodBody;
typedef struct _MonoAppContext MonoAppContext;
struct _MonoObject {
    MonoVTable *vtable;
    MonoThreadsSync *synchronisation;
};
typedef MonoObject *(*MonoInvokeFunc) (MonoMethod *method, void *obj, void * *params, MonoObject * *exc, MonoError *error);
typedef void *(*MonoCompileFunc) (MonoMethod *method);
typedef void (*MonoMainThreadFunc) (void *user_data);
mono_unichar2 *mono_string_chars(MonoString *s);
int mono_string_length(MonoString *s);
MonoObject *mono_object_new(MonoDomain *domain, MonoClass *klass);
MonoObject *mono_object_new_specific(MonoVTable *vtable);
MonoObject *mono_object_new_fast(MonoVTable *vtable);
MonoObject *mono_object_new_alloc_specific(MonoVTable *vtable);
MonoObject *mono_object_new_from_token(MonoDomain *domain, MonoImage *image, uint32_t token);
MonoArray *mono_array_new(MonoDomain *domain, MonoClass *eclass, uintptr_t n);
MonoArray *mono_array_new_full(MonoDomain *domain, MonoClass *array_class, uintptr_t *lengths, intptr_t *lower_bounds);
MonoArray *mono_array_new_specific(MonoVTable *vtable, uintptr_t n);
MonoArray *mono_array_clone(MonoArray *array);
char *mono_array_addr_with_size(MonoArray *array, int size, uintptr_t idx);
uintptr_t mono_array_length(MonoArray *array);
MonoString *mono_string_empty(MonoDomain *domain);
MonoString *mono_string_empty_wrapper(void);
MonoString *mono_string_new_utf16(MonoDomain *domain, const mono_unichar2 *text, int32_t len);
MonoString *mono_string_new_size(MonoDomain *domain, int32_t len);
MonoString *mono_ldstr(MonoDomain *domain, MonoImage *image, uint32_t str_index);
MonoString *mono_string_is_interned(MonoString *str);
MonoString *mono_string_intern(MonoString *str);
MonoString *mono_string_new(MonoDomain *domain, const char *text);
MonoString *mono_string_new_wrapper(const char *text);
MonoString *mono_string_new_len(MonoDomain *domain, const char *text, unsigned int length);
MonoString *mono_string_new_utf32(MonoDomain *domain, const mono_unichar4 *text, int32_t len);
char *mono_string_to_utf8(MonoString *string_obj);
char *mono_string_to_utf8_checked(MonoString *string_obj, MonoError *error);
mono_unichar2 *mono_string_to_utf16(MonoString *string_obj);
mono_unichar4 *mono_string_to_utf32(MonoString *string_obj);
MonoString *mono_string_from_utf16(mono_unichar2 *data);
MonoString *mono_string_from_utf32(mono_unichar4 *data);
mono_bool mono_string_equal(MonoString *s1, MonoString *s2);
unsigned int mono_string_hash(MonoString *s);
int mono_object_hash(MonoObject *obj);
MonoString *mono_object_to_string(MonoObject *obj, MonoObject * *exc);
MonoObject *mono_value_box(MonoDomain *domain, MonoClass *klass, void *val);
void mono_value_copy(void *dest, void *src, MonoClass *klass);
void mono_value_copy_array(MonoArray *dest, int dest_idx, void *src, int count);
MonoVTable *mono_object_get_vtable(MonoObject *obj);
MonoDomain *mono_object_get_domain(MonoObject *obj);
MonoClass *mono_object_get_class(MonoObject *obj);
void *mono_object_unbox(MonoObject *obj);
MonoObject *mono_object_clone(MonoObject *obj);
MonoObject *mono_object_isinst(MonoObject *obj, MonoClass *klass);
MonoObject *mono_object_isinst_mbyref(MonoObject *obj, MonoClass *klass);
MonoObject *mono_object_castclass_mbyref(MonoObject *obj, MonoClass *klass);
mono_bool mono_monitor_try_enter(MonoObject *obj, uint32_t ms);
mono_bool mono_monitor_enter(MonoObject *obj);
void mono_monitor_enter_v4(MonoObject *obj, char *lock_taken);
unsigned int mono_object_get_size(MonoObject *o);
void mono_monitor_exit(MonoObject *obj);
void mono_raise_exception(MonoException *ex);
mono_bool mono_runtime_set_pending_exception(MonoException *exc, mono_bool overwrite);
void mono_reraise_exception(MonoException *ex);
void mono_runtime_object_init(MonoObject *this_obj);
void mono_runtime_class_init(MonoVTable *vtable);
MonoDomain *mono_vtable_domain(MonoVTable *vtable);
MonoClass *mono_vtable_class(MonoVTable *vtable);
MonoMethod *mono_object_get_virtual_method(MonoObject *obj, MonoMethod *method);
MonoObject *mono_runtime_invoke(MonoMethod *method, void *obj, void * *params, MonoObject * *exc);
MonoMethod *mono_get_delegate_invoke(MonoClass *klass);
MonoMethod *mono_get_delegate_begin_invoke(MonoClass *klass);
MonoMethod *mono_get_delegate_end_invoke(MonoClass *klass);
MonoObject *mono_runtime_delegate_invoke(MonoObject *delegate, void * *params, MonoObject * *exc);
MonoObject *mono_runtime_invoke_array(MonoMethod *method, void *obj, MonoArray *params, MonoObject * *exc);
void *mono_method_get_unmanaged_thunk(MonoMethod *method);
MonoArray *mono_runtime_get_main_args(void);
void mono_runtime_exec_managed_code(MonoDomain *domain, MonoMainThreadFunc main_func, void *main_args);
int mono_runtime_run_main(MonoMethod *method, int argc, char *argv[], MonoObject * *exc);
int mono_runtime_exec_main(MonoMethod *method, MonoArray *args, MonoObject * *exc);
int mono_runtime_set_main_args(int argc, char *argv[]);
void *mono_load_remote_field(MonoObject *this_obj, MonoClass *klass, MonoClassField *field, void * *res);
MonoObject *mono_load_remote_field_new(MonoObject *this_obj, MonoClass *klass, MonoClassField *field);
void mono_store_remote_field(MonoObject *this_obj, MonoClass *klass, MonoClassField *field, void *val);
void mono_store_remote_field_new(MonoObject *this_obj, MonoClass *klass, MonoClassField *field, MonoObject *arg);
void mono_unhandled_exception(MonoObject *exc);
void mono_print_unhandled_exception(MonoObject *exc);
void *mono_compile_method(MonoMethod *method);
void mono_field_set_value(MonoObject *obj, MonoClassField *field, void *value);
void mono_field_static_set_value(MonoVTable *vt, MonoClassField *field, void *value);
void mono_field_get_value(MonoObject *obj, MonoClassField *field, void *value);
void mono_field_static_get_value(MonoVTable *vt, MonoClassField *field, void *value);
MonoObject *mono_field_get_value_object(MonoDomain *domain, MonoClassField *field, MonoObject *obj);
void mono_property_set_value(MonoProperty *prop, void *obj, void * *params, MonoObject * *exc);
MonoObject *mono_property_get_value(MonoProperty *prop, void *obj, void * *params, MonoObject * *exc);
uint32_t mono_gchandle_new(MonoObject *obj, mono_bool pinned);
uint32_t mono_gchandle_new_weakref(MonoObject *obj, mono_bool track_resurrection);
MonoObject *mono_gchandle_get_target(uint32_t gchandle);
void mono_gchandle_free(uint32_t gchandle);
typedef void (*mono_reference_queue_callback) (void *user_data);
typedef struct _MonoReferenceQueue MonoReferenceQueue;
MonoReferenceQueue *mono_gc_reference_queue_new(mono_reference_queue_callback callback);
void mono_gc_reference_queue_free(MonoReferenceQueue *queue);
mono_bool mono_gc_reference_queue_add(MonoReferenceQueue *queue, MonoObject *obj, void *user_data);
void mono_gc_wbarrier_set_field(MonoObject *obj, void *field_ptr, MonoObject *value);
void mono_gc_wbarrier_set_arrayref(MonoArray *arr, void *slot_ptr, MonoObject *value);
void mono_gc_wbarrier_arrayref_copy(void *dest_ptr, void *src_ptr, int count);
void mono_gc_wbarrier_generic_store(void *ptr, MonoObject *value);
void mono_gc_wbarrier_generic_store_atomic(void *ptr, MonoObject *value);
void mono_gc_wbarrier_generic_nostore(void *ptr);
void mono_gc_wbarrier_value_copy(void *dest, void *src, int count, MonoClass *klass);
void mono_gc_wbarrier_object_copy(MonoObject *obj, MonoObject *src);
typedef struct MonoTypeNameParse MonoTypeNameParse;
typedef struct {
    MonoMethod *ctor;
    uint32_t data_size;
    const mono_byte *data;
} MonoCustomAttrEntry;
typedef struct {
    int num_attrs;
    int cached;
    MonoImage *image;
    MonoCustomAttrEntry attrs [0];
} MonoCustomAttrInfo;
typedef struct {
    char * *param_names;
    MonoMarshalSpec * *param_marshall;
    MonoCustomAttrInfo * *param_cattr;
    uint8_t * *param_defaults;
    uint32_t *param_default_types;
    char *dllentry, *dll;
} MonoReflectionMethodAux;
typedef enum {
    ResolveTokenError_OutOfRange,
    ResolveTokenError_BadTable,
    ResolveTokenError_Other,
} MonoResolveTokenError;
int mono_reflection_parse_type(char *name, MonoTypeNameParse *info);
MonoType *mono_reflection_get_type(MonoImage *image, MonoTypeNameParse *info, mono_bool ignorecase, mono_bool *type_resolve);
void mono_reflection_free_type_info(MonoTypeNameParse *info);
MonoType *mono_reflection_type_from_name(char *name, MonoImage *image);
uint32_t mono_reflection_get_token(MonoObject *obj);
MonoReflectionAssembly *mono_assembly_get_object(MonoDomain *domain, MonoAssembly *assembly);
MonoReflectionModule *mono_module_get_object(MonoDomain *domain, MonoImage *image);
MonoReflectionModule *mono_module_file_get_object(MonoDomain *domain, MonoImage *image, int table_index);
MonoReflectionType *mono_type_get_object(MonoDomain *domain, MonoType *type);
MonoReflectionMethod *mono_method_get_object(MonoDomain *domain, MonoMethod *method, MonoClass *refclass);
MonoReflectionField *mono_field_get_object(MonoDomain *domain, MonoClass *klass, MonoClassField *field);
MonoReflectionProperty *mono_property_get_object(MonoDomain *domain, MonoClass *klass, MonoProperty *property);
MonoReflectionEvent *mono_event_get_object(MonoDomain *domain, MonoClass *klass, MonoEvent *event);
MonoArray *mono_param_get_objects(MonoDomain *domain, MonoMethod *method);
MonoReflectionMethodBody *mono_method_body_get_object(MonoDomain *domain, MonoMethod *method);
MonoObject *mono_get_dbnull_object(MonoDomain *domain);
MonoArray *mono_reflection_get_custom_attrs_by_type(MonoObject *obj, MonoClass *attr_klass, MonoError *error);
MonoArray *mono_reflection_get_custom_attrs(MonoObject *obj);
MonoArray *mono_reflection_get_custom_attrs_data(MonoObject *obj);
MonoArray *mono_reflection_get_custom_attrs_blob(MonoReflectionAssembly *assembly, MonoObject *ctor, MonoArray *ctorArgs, MonoArray *properties, MonoArray *porpValues, MonoArray *fields, MonoArray *fieldValues);
MonoCustomAttrInfo *mono_reflection_get_custom_attrs_info(MonoObject *obj);
MonoArray *mono_custom_attrs_construct(MonoCustomAttrInfo *cinfo);
MonoCustomAttrInfo *mono_custom_attrs_from_index(MonoImage *image, uint32_t idx);
MonoCustomAttrInfo *mono_custom_attrs_from_method(MonoMethod *method);
MonoCustomAttrInfo *mono_custom_attrs_from_class(MonoClass *klass);
MonoCustomAttrInfo *mono_custom_attrs_from_assembly(MonoAssembly *assembly);
MonoCustomAttrInfo *mono_custom_attrs_from_property(MonoClass *klass, MonoProperty *property);
MonoCustomAttrInfo *mono_custom_attrs_from_event(MonoClass *klass, MonoEvent *event);
MonoCustomAttrInfo *mono_custom_attrs_from_field(MonoClass *klass, MonoClassField *field);
MonoCustomAttrInfo *mono_custom_attrs_from_param(MonoMethod *method, uint32_t param);
mono_bool mono_custom_attrs_has_attr(MonoCustomAttrInfo *ainfo, MonoClass *attr_klass);
MonoObject *mono_custom_attrs_get_attr(MonoCustomAttrInfo *ainfo, MonoClass *attr_klass);
void mono_custom_attrs_free(MonoCustomAttrInfo *ainfo);
enum {
    MONO_DECLSEC_FLAG_REQUEST = 0x00000001,
    MONO_DECLSEC_FLAG_DEMAND = 0x00000002,
    MONO_DECLSEC_FLAG_ASSERT = 0x00000004,
    MONO_DECLSEC_FLAG_DENY = 0x00000008,
    MONO_DECLSEC_FLAG_PERMITONLY = 0x00000010,
    MONO_DECLSEC_FLAG_LINKDEMAND = 0x00000020,
    MONO_DECLSEC_FLAG_INHERITANCEDEMAND = 0x00000040,
    MONO_DECLSEC_FLAG_REQUEST_MINIMUM = 0x00000080,
    MONO_DECLSEC_FLAG_REQUEST_OPTIONAL = 0x00000100,
    MONO_DECLSEC_FLAG_REQUEST_REFUSE = 0x00000200,
    MONO_DECLSEC_FLAG_PREJIT_GRANT = 0x00000400,
    MONO_DECLSEC_FLAG_PREJIT_DENY = 0x00000800,
    MONO_DECLSEC_FLAG_NONCAS_DEMAND = 0x00001000,
    MONO_DECLSEC_FLAG_NONCAS_LINKDEMAND = 0x00002000,
    MONO_DECLSEC_FLAG_NONCAS_INHERITANCEDEMAND = 0x00004000,
    MONO_DECLSEC_FLAG_LINKDEMAND_CHOICE = 0x00008000,
    MONO_DECLSEC_FLAG_INHERITANCEDEMAND_CHOICE = 0x00010000,
    MONO_DECLSEC_FLAG_DEMAND_CHOICE = 0x00020000,
};
uint32_t mono_declsec_flags_from_method(MonoMethod *method);
uint32_t mono_declsec_flags_from_class(MonoClass *klass);
uint32_t mono_declsec_flags_from_assembly(MonoAssembly *assembly);
typedef struct {
    char *blob;
    uint32_t size;
    uint32_t index;
} MonoDeclSecurityEntry;
typedef struct {
    MonoDeclSecurityEntry demand;
    MonoDeclSecurityEntry noncasdemand;
    MonoDeclSecurityEntry demandchoice;
} MonoDeclSecurityActions;
MonoBoolean mono_declsec_get_demands(MonoMethod *callee, MonoDeclSecurityActions *demands);
MonoBoolean mono_declsec_get_linkdemands(MonoMethod *callee, MonoDeclSecurityActions *klass, MonoDeclSecurityActions *cmethod);
MonoBoolean mono_declsec_get_inheritdemands_class(MonoClass *klass, MonoDeclSecurityActions *demands);
MonoBoolean mono_declsec_get_inheritdemands_method(MonoMethod *callee, MonoDeclSecurityActions *demands);
MonoBoolean mono_declsec_get_method_action(MonoMethod *method, uint32_t action, MonoDeclSecurityEntry *entry);
MonoBoolean mono_declsec_get_class_action(MonoClass *klass, uint32_t action, MonoDeclSecurityEntry *entry);
MonoBoolean mono_declsec_get_assembly_action(MonoAssembly *assembly, uint32_t action, MonoDeclSecurityEntry *entry);
MonoType *mono_reflection_type_get_type(MonoReflectionType *reftype);
MonoAssembly *mono_reflection_assembly_get_assembly(MonoReflectionAssembly *refassembly);
typedef void (*MonoThreadStartCB) (intptr_t tid, void *stack_start, void *func);
typedef void (*MonoThreadAttachCB) (intptr_t tid, void *stack_start);
typedef struct _MonoAppDomain MonoAppDomain;
typedef void (*MonoDomainFunc) (MonoDomain *domain, void *user_data);
MonoDomain *mono_init(const char *filename);
MonoDomain *mono_init_from_assembly(const char *domain_name, const char *filename);
MonoDomain *mono_init_version(const char *domain_name, const char *version);
MonoDomain *mono_get_root_domain(void);
void mono_runtime_init(MonoDomain *domain, MonoThreadStartCB start_cb, MonoThreadAttachCB attach_cb);
void mono_runtime_cleanup(MonoDomain *domain);
void mono_install_runtime_cleanup(MonoDomainFunc func);
void mono_runtime_quit(void);
void mono_runtime_set_shutting_down(void);
mono_bool mono_runtime_is_shutting_down(void);
const char *mono_check_corlib_version(void);
MonoDomain *mono_domain_create(void);
MonoDomain *mono_domain_create_appdomain(char *friendly_name, char *configuration_file);
void mono_domain_set_config(MonoDomain *domain, const char *base_dir, const char *config_file_name);
MonoDomain *mono_domain_get(void);
MonoDomain *mono_domain_get_by_id(int32_t domainid);
int32_t mono_domain_get_id(MonoDomain *domain);
const char *mono_domain_get_friendly_name(MonoDomain *domain);
mono_bool mono_domain_set(MonoDomain *domain, mono_bool force);
void mono_domain_set_internal(MonoDomain *domain);
void mono_domain_unload(MonoDomain *domain);
void mono_domain_try_unload(MonoDomain *domain, MonoObject * *exc);
mono_bool mono_domain_is_unloading(MonoDomain *domain);
MonoDomain *mono_domain_from_appdomain(MonoAppDomain *appdomain);
void mono_domain_foreach(MonoDomainFunc func, void *user_data);
MonoAssembly *mono_domain_assembly_open(MonoDomain *domain, const char *name);
mono_bool mono_domain_finalize(MonoDomain *domain, uint32_t timeout);
void mono_domain_free(MonoDomain *domain, mono_bool force);
mono_bool mono_domain_has_type_resolve(MonoDomain *domain);
MonoReflectionAssembly *mono_domain_try_type_resolve(MonoDomain *domain, char *name, MonoObject *tb);
mono_bool mono_domain_owns_vtable_slot(MonoDomain *domain, void *vtable_slot);
void mono_context_init(MonoDomain *domain);
void mono_context_set(MonoAppContext *new_context);
MonoAppContext *mono_context_get(void);
int32_t mono_context_get_id(MonoAppContext *context);
int32_t mono_context_get_domain_id(MonoAppContext *context);
MonoJitInfo *mono_jit_info_table_find(MonoDomain *domain, void *addr);
void *mono_jit_info_get_code_start(MonoJitInfo *ji);
int mono_jit_info_get_code_size(MonoJitInfo *ji);
MonoMethod *mono_jit_info_get_method(MonoJitInfo *ji);
MonoImage *mono_get_corlib(void);
MonoClass *mono_get_object_class(void);
MonoClass *mono_get_byte_class(void);
MonoClass *mono_get_void_class(void);
MonoClass *mono_get_boolean_class(void);
MonoClass *mono_get_sbyte_class(void);
MonoClass *mono_get_int16_class(void);
MonoClass *mono_get_uint16_class(void);
MonoClass *mono_get_int32_class(void);
MonoClass *mono_get_uint32_class(void);
MonoClass *mono_get_intptr_class(void);
MonoClass *mono_get_uintptr_class(void);
MonoClass *mono_get_int64_class(void);
MonoClass *mono_get_uint64_class(void);
MonoClass *mono_get_single_class(void);
MonoClass *mono_get_double_class(void);
MonoClass *mono_get_char_class(void);
MonoClass *mono_get_string_class(void);
MonoClass *mono_get_enum_class(void);
MonoClass *mono_get_array_class(void);
MonoClass *mono_get_thread_class(void);
MonoClass *mono_get_exception_class(void);
void mono_security_enable_core_clr(void);
typedef mono_bool (*MonoCoreClrPlatformCB) (const char *image_name);
void mono_security_set_core_clr_platform_callback(MonoCoreClrPlatformCB callback);
MonoDomain *mono_jit_init(const char *file);
MonoDomain *mono_jit_init_version(const char *root_domain_name, const char *runtime_version);
MonoDomain *mono_jit_init_version_for_test_only(const char *root_domain_name, const char *runtime_version);
int mono_jit_exec(MonoDomain *domain, MonoAssembly *assembly, int argc, char *argv[]);
void mono_jit_cleanup(MonoDomain *domain);
mono_bool mono_jit_set_trace_options(const char *options);
void mono_set_signal_chaining(mono_bool chain_signals);
void mono_set_crash_chaining(mono_bool chain_signals);
void mono_jit_set_aot_only(mono_bool aot_only);
typedef enum {
    MONO_AOT_MODE_NONE,
    MONO_AOT_MODE_NORMAL,
    MONO_AOT_MODE_HYBRID,
    MONO_AOT_MODE_FULL,
    MONO_AOT_MODE_LLVMONLY,
    MONO_AOT_MODE_INTERP,
    MONO_AOT_MODE_INTERP_LLVMONLY,
    MONO_AOT_MODE_LLVMONLY_INTERP,
    MONO_AOT_MODE_LAST = 1000,
} MonoAotMode;
void mono_jit_set_aot_mode(MonoAotMode mode);
mono_bool mono_jit_aot_compiling(void);
typedef enum {
    MONO_BREAK_POLICY_ALWAYS,
    MONO_BREAK_POLICY_NEVER,
    MONO_BREAK_POLICY_ON_DBG,
} MonoBreakPolicy;
typedef MonoBreakPolicy (*MonoBreakPolicyFunc) (MonoMethod *method);
void mono_set_break_policy(MonoBreakPolicyFunc policy_callback);
void mono_jit_parse_options(int argc, char *argv[]);
char *mono_get_runtime_build_info(void);
void mono_set_use_llvm(mono_bool use_llvm);
void mono_aot_register_module(void * *aot_info);
MonoDomain *mono_jit_thread_attach(MonoDomain *domain);
void mono_assemblies_init(void);
void mono_assemblies_cleanup(void);
MonoAssembly *mono_assembly_open(const char *filename, MonoImageOpenStatus *status);
MonoAssembly *mono_assembly_open_full(const char *filename, MonoImageOpenStatus *status, mono_bool refonly);
MonoAssembly *mono_assembly_load(MonoAssemblyName *aname, const char *basedir, MonoImageOpenStatus *status);
MonoAssembly *mono_assembly_load_full(MonoAssemblyName *aname, const char *basedir, MonoImageOpenStatus *status, mono_bool refonly);
MonoAssembly *mono_assembly_load_from(MonoImage *image, const char *fname, MonoImageOpenStatus *status);
MonoAssembly *mono_assembly_load_from_full(MonoImage *image, const char *fname, MonoImageOpenStatus *status, mono_bool refonly);
MonoAssembly *mono_assembly_load_with_partial_name(const char *name, MonoImageOpenStatus *status);
MonoAssembly *mono_assembly_loaded(MonoAssemblyName *aname);
MonoAssembly *mono_assembly_loaded_full(MonoAssemblyName *aname, mono_bool refonly);
void mono_assembly_get_assemblyref(MonoImage *image, int index, MonoAssemblyName *aname);
void mono_assembly_load_reference(MonoImage *image, int index);
void mono_assembly_load_references(MonoImage *image, MonoImageOpenStatus *status);
MonoImage *mono_assembly_load_module(MonoAssembly *assembly, uint32_t idx);
void mono_assembly_close(MonoAssembly *assembly);
void mono_assembly_setrootdir(const char *root_dir);
const char *mono_assembly_getrootdir(void);
char *mono_native_getrootdir(void);
void mono_assembly_foreach(MonoFunc func, void *user_data);
void mono_assembly_set_main(MonoAssembly *assembly);
MonoAssembly *mono_assembly_get_main(void);
MonoImage *mono_assembly_get_image(MonoAssembly *assembly);
MonoAssemblyName *mono_assembly_get_name(MonoAssembly *assembly);
mono_bool mono_assembly_fill_assembly_name(MonoImage *image, MonoAssemblyName *aname);
mono_bool mono_assembly_names_equal(MonoAssemblyName *l, MonoAssemblyName *r);
char *mono_stringify_assembly_name(MonoAssemblyName *aname);
typedef void (*MonoAssemblyLoadFunc) (MonoAssembly *assembly, void *user_data);
void mono_install_assembly_load_hook(MonoAssemblyLoadFunc func, void *user_data);
typedef MonoAssembly *(*MonoAssemblySearchFunc) (MonoAssemblyName *aname, void *user_data);
void mono_install_assembly_search_hook(MonoAssemblySearchFunc func, void *user_data);
void mono_install_assembly_refonly_search_hook(MonoAssemblySearchFunc func, void *user_data);
MonoAssembly *mono_assembly_invoke_search_hook(MonoAssemblyName *aname);
void mono_install_assembly_postload_search_hook(MonoAssemblySearchFunc func, void *user_data);
void mono_install_assembly_postload_refonly_search_hook(MonoAssemblySearchFunc func, void *user_data);
typedef MonoAssembly *(*MonoAssemblyPreLoadFunc) (MonoAssemblyName *aname, char * *assemblies_path, void *user_data);
void mono_install_assembly_preload_hook(MonoAssemblyPreLoadFunc func, void *user_data);
void mono_install_assembly_refonly_preload_hook(MonoAssemblyPreLoadFunc func, void *user_data);
void mono_assembly_invoke_load_hook(MonoAssembly *ass);
MonoAssemblyName *mono_assembly_name_new(const char *name);
const char *mono_assembly_name_get_name(MonoAssemblyName *aname);
const char *mono_assembly_name_get_culture(MonoAssemblyName *aname);
uint16_t mono_assembly_name_get_version(MonoAssemblyName *aname, uint16_t *minor, uint16_t *build, uint16_t *revision);
mono_byte *mono_assembly_name_get_pubkeytoken(MonoAssemblyName *aname);
void mono_assembly_name_free(MonoAssemblyName *aname);
typedef struct {
    const char *name;
    const unsigned char *data;
    unsigned int size;
} MonoBundledAssembly;
void mono_register_bundled_assemblies(const MonoBundledAssembly * *assemblies);
void mono_register_config_for_assembly(const char *assembly_name, const char *config_xml);
void mono_register_symfile_for_assembly(const char *assembly_name, const mono_byte *raw_contents, int size);
void mono_register_machine_config(const char *config_xml);
void mono_set_rootdir(void);
void mono_set_dirs(const char *assembly_dir, const char *config_dir);
void mono_set_assemblies_path(const char *path);
enum {
    MONO_ASSEMBLY_HASH_NONE,
    MONO_ASSEMBLY_HASH_MD5 = 0x8003,
    MONO_ASSEMBLY_HASH_SHA1 = 0x8004,
};
enum {
    MONO_ASSEMBLYREF_FULL_PUBLIC_KEY = 0x0001,
    MONO_ASSEMBLYREF_RETARGETABLE = 0x0100,
    MONO_ASSEMBLYREF_JIT_TRACKING = 0x8000,
    MONO_ASSEMBLYREF_NO_JIT_OPT = 0x4000,
};
enum {
    MONO_EVENT_SPECIALNAME = 0x0200,
    MONO_EVENT_RTSPECIALNAME = 0x0400,
};
enum {
    MONO_FIELD_ATTR_FIELD_ACCESS_MASK = 0x0007,
    MONO_FIELD_ATTR_COMPILER_CONTROLLED = 0x0000,
    MONO_FIELD_ATTR_PRIVATE = 0x0001,
    MONO_FIELD_ATTR_FAM_AND_ASSEM = 0x0002,
    MONO_FIELD_ATTR_ASSEMBLY = 0x0003,
    MONO_FIELD_ATTR_FAMILY = 0x0004,
    MONO_FIELD_ATTR_FAM_OR_ASSEM = 0x0005,
    MONO_FIELD_ATTR_PUBLIC = 0x0006,
    MONO_FIELD_ATTR_STATIC = 0x0010,
    MONO_FIELD_ATTR_INIT_ONLY = 0x0020,
    MONO_FIELD_ATTR_LITERAL = 0x0040,
    MONO_FIELD_ATTR_NOT_SERIALIZED = 0x0080,
    MONO_FIELD_ATTR_SPECIAL_NAME = 0x0200,
    MONO_FIELD_ATTR_PINVOKE_IMPL = 0x2000,
    MONO_FIELD_ATTR_RESERVED_MASK = 0x9500,
    MONO_FIELD_ATTR_RT_SPECIAL_NAME = 0x0400,
    MONO_FIELD_ATTR_HAS_MARSHAL = 0x1000,
    MONO_FIELD_ATTR_HAS_DEFAULT = 0x8000,
    MONO_FIELD_ATTR_HAS_RVA = 0x0100,
};
enum {
    MONO_FILE_HAS_METADATA = 0,
    MONO_FILE_HAS_NO_METADATA = 1,
};
enum {
    MONO_GEN_PARAM_VARIANCE_MASK = 0x0003,
    MONO_GEN_PARAM_NON_VARIANT = 0x0000,
    MONO_GEN_PARAM_VARIANT = 0x0001,
    MONO_GEN_PARAM_COVARIANT = 0x0002,
    MONO_GEN_PARAM_CONSTRAINT_MASK = 0x001c,
    MONO_GEN_PARAM_CONSTRAINT_CLASS = 0x0004,
    MONO_GEN_PARAM_CONSTRAINT_VTYPE = 0x0008,
    MONO_GEN_PARAM_CONSTRAINT_DCTOR = 0x0010,
};
enum {
    MONO_PINVOKE_NO_MANGLE = 0x0001,
    MONO_PINVOKE_CHAR_SET_MASK = 0x0006,
    MONO_PINVOKE_CHAR_SET_NOT_SPEC = 0x0000,
    MONO_PINVOKE_CHAR_SET_ANSI = 0x0002,
    MONO_PINVOKE_CHAR_SET_UNICODE = 0x0004,
    MONO_PINVOKE_CHAR_SET_AUTO = 0x0006,
    MONO_PINVOKE_BEST_FIT_ENABLED = 0x0010,
    MONO_PINVOKE_BEST_FIT_DISABLED = 0x0020,
    MONO_PINVOKE_BEST_FIT_MASK = 0x0030,
    MONO_PINVOKE_SUPPORTS_LAST_ERROR = 0x0040,
    MONO_PINVOKE_CALL_CONV_MASK = 0x0700,
    MONO_PINVOKE_CALL_CONV_WINAPI = 0x0100,
    MONO_PINVOKE_CALL_CONV_CDECL = 0x0200,
    MONO_PINVOKE_CALL_CONV_STDCALL = 0x0300,
    MONO_PINVOKE_CALL_CONV_THISCALL = 0x0400,
    MONO_PINVOKE_CALL_CONV_FASTCALL = 0x0500,
    MONO_PINVOKE_THROW_ON_UNMAPPABLE_ENABLED = 0x1000,
    MONO_PINVOKE_THROW_ON_UNMAPPABLE_DISABLED = 0x2000,
    MONO_PINVOKE_THROW_ON_UNMAPPABLE_MASK = 0x3000,
    MONO_PINVOKE_CALL_CONV_GENERIC = 0x0010,
    MONO_PINVOKE_CALL_CONV_GENERICINST = 0x000a,
};
enum {
    MONO_MANIFEST_RESOURCE_VISIBILITY_MASK = 0x00000007,
    MONO_MANIFEST_RESOURCE_PUBLIC = 0x00000001,
    MONO_MANIFEST_RESOURCE_PRIVATE = 0x00000002,
};
enum {
    MONO_METHOD_ATTR_ACCESS_MASK = 0x0007,
    MONO_METHOD_ATTR_COMPILER_CONTROLLED = 0x0000,
    MONO_METHOD_ATTR_PRIVATE = 0x0001,
    MONO_METHOD_ATTR_FAM_AND_ASSEM = 0x0002,
    MONO_METHOD_ATTR_ASSEM = 0x0003,
    MONO_METHOD_ATTR_FAMILY = 0x0004,
    MONO_METHOD_ATTR_FAM_OR_ASSEM = 0x0005,
    MONO_METHOD_ATTR_PUBLIC = 0x0006,
    MONO_METHOD_ATTR_STATIC = 0x0010,
    MONO_METHOD_ATTR_FINAL = 0x0020,
    MONO_METHOD_ATTR_VIRTUAL = 0x0040,
    MONO_METHOD_ATTR_HIDE_BY_SIG = 0x0080,
    MONO_METHOD_ATTR_VTABLE_LAYOUT_MASK = 0x0100,
    MONO_METHOD_ATTR_REUSE_SLOT = 0x0000,
    MONO_METHOD_ATTR_NEW_SLOT = 0x0100,
    MONO_METHOD_ATTR_STRICT = 0x0200,
    MONO_METHOD_ATTR_ABSTRACT = 0x0400,
    MONO_METHOD_ATTR_SPECIAL_NAME = 0x0800,
    MONO_METHOD_ATTR_PINVOKE_IMPL = 0x2000,
    MONO_METHOD_ATTR_UNMANAGED_EXPORT = 0x0008,
    MONO_METHOD_ATTR_RESERVED_MASK = 0xd000,
    MONO_METHOD_ATTR_RT_SPECIAL_NAME = 0x1000,
    MONO_METHOD_ATTR_HAS_SECURITY = 0x4000,
    MONO_METHOD_ATTR_REQUIRE_SEC_OBJECT = 0x8000,
};
enum {
    MONO_METHOD_IMPL_ATTR_CODE_TYPE_MASK = 0x0003,
    MONO_METHOD_IMPL_ATTR_IL = 0x0000,
    MONO_METHOD_IMPL_ATTR_NATIVE = 0x0001,
    MONO_METHOD_IMPL_ATTR_OPTIL = 0x0002,
    MONO_METHOD_IMPL_ATTR_RUNTIME = 0x0003,
    MONO_METHOD_IMPL_ATTR_MANAGED_MASK = 0x0004,
    MONO_METHOD_IMPL_ATTR_UNMANAGED = 0x0004,
    MONO_METHOD_IMPL_ATTR_MANAGED = 0x0000,
    MONO_METHOD_IMPL_ATTR_FORWARD_REF = 0x0010,
    MONO_METHOD_IMPL_ATTR_PRESERVE_SIG = 0x0080,
    MONO_METHOD_IMPL_ATTR_INTERNAL_CALL = 0x1000,
    MONO_METHOD_IMPL_ATTR_SYNCHRONIZED = 0x0020,
    MONO_METHOD_IMPL_ATTR_NOINLINING = 0x0008,
    MONO_METHOD_IMPL_ATTR_NOOPTIMIZATION = 0x0040,
    MONO_METHOD_IMPL_ATTR_MAX_METHOD_IMPL_VAL = 0xffff,
};
enum {
    MONO_METHOD_SEMANTIC_SETTER = 0x0001,
    MONO_METHOD_SEMANTIC_GETTER = 0x0002,
    MONO_METHOD_SEMANTIC_OTHER = 0x0004,
    MONO_METHOD_SEMANTIC_ADD_ON = 0x0008,
    MONO_METHOD_SEMANTIC_REMOVE_ON = 0x0010,
    MONO_METHOD_SEMANTIC_FIRE = 0x0020,
};
enum {
    MONO_PARAM_ATTR_IN = 0x0001,
    MONO_PARAM_ATTR_OUT = 0x0002,
    MONO_PARAM_ATTR_OPTIONAL = 0x0010,
    MONO_PARAM_ATTR_RESERVED_MASK = 0xf000,
    MONO_PARAM_ATTR_HAS_DEFAULT = 0x1000,
    MONO_PARAM_ATTR_HAS_MARSHAL = 0x2000,
    MONO_PARAM_ATTR_UNUSED = 0xcfe0,
};
enum {
    MONO_PROPERTY_ATTR_SPECIAL_NAME = 0x0200,
    MONO_PROPERTY_ATTR_RESERVED_MASK = 0xf400,
    MONO_PROPERTY_ATTR_RT_SPECIAL_NAME = 0x0400,
    MONO_PROPERTY_ATTR_HAS_DEFAULT = 0x1000,
    MONO_PROPERTY_ATTR_UNUSED = 0xe9ff,
};
enum {
    MONO_TYPE_ATTR_VISIBILITY_MASK = 0x00000007,
    MONO_TYPE_ATTR_NOT_PUBLIC = 0x00000000,
    MONO_TYPE_ATTR_PUBLIC = 0x00000001,
    MONO_TYPE_ATTR_NESTED_PUBLIC = 0x00000002,
    MONO_TYPE_ATTR_NESTED_PRIVATE = 0x00000003,
    MONO_TYPE_ATTR_NESTED_FAMILY = 0x00000004,
    MONO_TYPE_ATTR_NESTED_ASSEMBLY = 0x00000005,
    MONO_TYPE_ATTR_NESTED_FAM_AND_ASSEM = 0x00000006,
    MONO_TYPE_ATTR_NESTED_FAM_OR_ASSEM = 0x00000007,
    MONO_TYPE_ATTR_LAYOUT_MASK = 0x00000018,
    MONO_TYPE_ATTR_AUTO_LAYOUT = 0x00000000,
    MONO_TYPE_ATTR_SEQUENTIAL_LAYOUT = 0x00000008,
    MONO_TYPE_ATTR_EXPLICIT_LAYOUT = 0x00000010,
    MONO_TYPE_ATTR_CLASS_SEMANTIC_MASK = 0x00000020,
    MONO_TYPE_ATTR_CLASS = 0x00000000,
    MONO_TYPE_ATTR_INTERFACE = 0x00000020,
    MONO_TYPE_ATTR_ABSTRACT = 0x00000080,
    MONO_TYPE_ATTR_SEALED = 0x00000100,
    MONO_TYPE_ATTR_SPECIAL_NAME = 0x00000400,
    MONO_TYPE_ATTR_IMPORT = 0x00001000,
    MONO_TYPE_ATTR_SERIALIZABLE = 0x00002000,
    MONO_TYPE_ATTR_STRING_FORMAT_MASK = 0x00030000,
    MONO_TYPE_ATTR_ANSI_CLASS = 0x00000000,
    MONO_TYPE_ATTR_UNICODE_CLASS = 0x00010000,
    MONO_TYPE_ATTR_AUTO_CLASS = 0x00020000,
    MONO_TYPE_ATTR_CUSTOM_CLASS = 0x00030000,
    MONO_TYPE_ATTR_CUSTOM_MASK = 0x00c00000,
    MONO_TYPE_ATTR_BEFORE_FIELD_INIT = 0x00100000,
    MONO_TYPE_ATTR_FORWARDER = 0x00200000,
    MONO_TYPE_ATTR_RESERVED_MASK = 0x00040800,
    MONO_TYPE_ATTR_RT_SPECIAL_NAME = 0x00000800,
    MONO_TYPE_ATTR_HAS_SECURITY = 0x00040000,
};
typedef struct MonoDisHelper MonoDisHelper;
typedef char *(*MonoDisIndenter) (MonoDisHelper *dh, MonoMethod *method, uint32_t ip_offset);
typedef char *(*MonoDisTokener) (MonoDisHelper *dh, MonoMethod *method, uint32_t token);
struct MonoDisHelper {
    const char *newline;
    const char *label_format;
    const char *label_target;
    MonoDisIndenter indenter;
    MonoDisTokener tokener;
    void *user_data;
};
char *mono_disasm_code_one(MonoDisHelper *dh, MonoMethod *method, const mono_byte *ip, const mono_byte * *endp);
char *mono_disasm_code(MonoDisHelper *dh, MonoMethod *method, const mono_byte *ip, const mono_byte *end);
typedef struct MonoMethodDesc MonoMethodDesc;
char *mono_type_full_name(MonoType *type);
char *mono_signature_get_desc(MonoMethodSignature *sig, mono_bool include_namespace);
char *mono_context_get_desc(MonoGenericContext *context);
MonoMethodDesc *mono_method_desc_new(const char *name, mono_bool include_namespace);
MonoMethodDesc *mono_method_desc_from_method(MonoMethod *method);
void mono_method_desc_free(MonoMethodDesc *desc);
mono_bool mono_method_desc_match(MonoMethodDesc *desc, MonoMethod *method);
mono_bool mono_method_desc_is_full(MonoMethodDesc *desc);
mono_bool mono_method_desc_full_match(MonoMethodDesc *desc, MonoMethod *method);
MonoMethod *mono_method_desc_search_in_class(MonoMethodDesc *desc, MonoClass *klass);
MonoMethod *mono_method_desc_search_in_image(MonoMethodDesc *desc, MonoImage *image);
char *mono_method_full_name(MonoMethod *method, mono_bool signature);
char *mono_method_get_reflection_name(MonoMethod *method);
char *mono_field_full_name(MonoClassField *field);
int32_t mono_environment_exitcode_get(void);
void mono_environment_exitcode_set(int32_t value);
MonoException *mono_exception_from_name(MonoImage *image, const char *name_space, const char *name);
MonoException *mono_exception_from_token(MonoImage *image, uint32_t token);
MonoException *mono_exception_from_name_two_strings(MonoImage *image, const char *name_space, const char *name, MonoString *a1, MonoString *a2);
MonoException *mono_exception_from_name_msg(MonoImage *image, const char *name_space, const char *name, const char *msg);
MonoException *mono_exception_from_token_two_strings(MonoImage *image, uint32_t token, MonoString *a1, MonoString *a2);
MonoException *mono_exception_from_name_domain(MonoDomain *domain, MonoImage *image, const char *name_space, const char *name);
MonoException *mono_get_exception_divide_by_zero(void);
MonoException *mono_get_exception_security(void);
MonoException *mono_get_exception_arithmetic(void);
MonoException *mono_get_exception_overflow(void);
MonoException *mono_get_exception_null_reference(void);
MonoException *mono_get_exception_execution_engine(const char *msg);
MonoException *mono_get_exception_thread_abort(void);
MonoException *mono_get_exception_thread_state(const char *msg);
MonoException *mono_get_exception_thread_interrupted(void);
MonoException *mono_get_exception_serialization(const char *msg);
MonoException *mono_get_exception_invalid_cast(void);
MonoException *mono_get_exception_invalid_operation(const char *msg);
MonoException *mono_get_exception_index_out_of_range(void);
MonoException *mono_get_exception_array_type_mismatch(void);
MonoException *mono_get_exception_type_load(MonoString *class_name, char *assembly_name);
MonoException *mono_get_exception_missing_method(const char *class_name, const char *member_name);
MonoException *mono_get_exception_missing_field(const char *class_name, const char *member_name);
MonoException *mono_get_exception_not_implemented(const char *msg);
MonoException *mono_get_exception_not_supported(const char *msg);
MonoException *mono_get_exception_argument_null(const char *arg);
MonoException *mono_get_exception_argument(const char *arg, const char *msg);
MonoException *mono_get_exception_argument_out_of_range(const char *arg);
MonoException *mono_get_exception_io(const char *msg);
MonoException *mono_get_exception_file_not_found(MonoString *fname);
MonoException *mono_get_exception_file_not_found2(const char *msg, MonoString *fname);
MonoException *mono_get_exception_type_initialization(const char *type_name, MonoException *inner);
MonoException *mono_get_exception_synchronization_lock(const char *msg);
MonoException *mono_get_exception_cannot_unload_appdomain(const char *msg);
MonoException *mono_get_exception_appdomain_unloaded(void);
MonoException *mono_get_exception_bad_image_format(const char *msg);
MonoException *mono_get_exception_bad_image_format2(const char *msg, MonoString *fname);
MonoException *mono_get_exception_stack_overflow(void);
MonoException *mono_get_exception_out_of_memory(void);
MonoException *mono_get_exception_field_access(void);
MonoException *mono_get_exception_method_access(void);
MonoException *mono_get_exception_reflection_type_load(MonoArray *types, MonoArray *exceptions);
MonoException *mono_get_exception_runtime_wrapped(MonoObject *wrapped_exception);
typedef void (*MonoUnhandledExceptionFunc) (MonoObject *exc, void *user_data);
void mono_install_unhandled_exception_hook(MonoUnhandledExceptionFunc func, void *user_data);
void mono_invoke_unhandled_exception_hook(MonoObject *exc);
const char *mono_config_get_os(void);
const char *mono_config_get_cpu(void);
const char *mono_config_get_wordsize(void);
const char *mono_get_config_dir(void);
void mono_set_config_dir(const char *dir);
const char *mono_get_machine_config(void);
void mono_config_cleanup(void);
void mono_config_parse(const char *filename);
void mono_config_for_assembly(MonoImage *assembly);
void mono_config_parse_memory(const char *buffer);
const char *mono_config_string_for_assembly_file(const char *filename);
void mono_config_set_server_mode(mono_bool server_mode);
mono_bool mono_config_is_server_mode(void);
typedef struct _MonoSymbolTable MonoSymbolTable;
typedef struct _MonoDebugDataTable MonoDebugDataTable;
typedef struct _MonoSymbolFile MonoSymbolFile;
typedef struct _MonoPPDBFile MonoPPDBFile;
typedef struct _MonoDebugHandle MonoDebugHandle;
typedef struct _MonoDebugLineNumberEntry MonoDebugLineNumberEntry;
typedef struct _MonoDebugVarInfo MonoDebugVarInfo;
typedef struct _MonoDebugMethodJitInfo MonoDebugMethodJitInfo;
typedef struct _MonoDebugMethodAddress MonoDebugMethodAddress;
typedef struct _MonoDebugMethodAddressList MonoDebugMethodAddressList;
typedef struct _MonoDebugClassEntry MonoDebugClassEntry;
typedef struct _MonoDebugMethodInfo MonoDebugMethodInfo;
typedef struct _MonoDebugLocalsInfo MonoDebugLocalsInfo;
typedef struct _MonoDebugMethodAsyncInfo MonoDebugMethodAsyncInfo;
typedef struct _MonoDebugSourceLocation MonoDebugSourceLocation;
typedef struct _MonoDebugList MonoDebugList;
typedef enum {
    MONO_DEBUG_FORMAT_NONE,
    MONO_DEBUG_FORMAT_MONO,
    MONO_DEBUG_FORMAT_DEBUGGER,
} MonoDebugFormat;
struct _MonoDebugList {
    MonoDebugList *next;
    const void *data;
};
struct _MonoSymbolTable {
    uint64_t magic;
    uint32_t version;
    uint32_t total_size;
    MonoDebugHandle *corlib;
    MonoDebugDataTable *global_data_table;
    MonoDebugList *data_tables;
    MonoDebugList *symbol_files;
};
struct _MonoDebugHandle {
    uint32_t index;
    char *image_file;
    MonoImage *image;
    MonoDebugDataTable *type_table;
    MonoSymbolFile *symfile;
    MonoPPDBFile *ppdb;
};
struct _MonoDebugMethodJitInfo {
    const mono_byte *code_start;
    uint32_t code_size;
    uint32_t prologue_end;
    uint32_t epilogue_begin;
    const mono_byte *wrapper_addr;
    uint32_t num_line_numbers;
    MonoDebugLineNumberEntry *line_numbers;
    uint32_t has_var_info;
    uint32_t num_params;
    MonoDebugVarInfo *this_var;
    MonoDebugVarInfo *params;
    uint32_t num_locals;
    MonoDebugVarInfo *locals;
    MonoDebugVarInfo *gsharedvt_info_var;
    MonoDebugVarInfo *gsharedvt_locals_var;
};
struct _MonoDebugMethodAddressList {
    uint32_t size;
    uint32_t count;
    mono_byte data [0];
};
struct _MonoDebugSourceLocation {
    char *source_file;
    uint32_t row, column;
    uint32_t il_offset;
};
mono_bool mono_debug_enabled(void);
struct _MonoDebugVarInfo {
    uint32_t index;
    uint32_t offset;
    uint32_t size;
    uint32_t begin_scope;
    uint32_t end_scope;
    MonoType *type;
};
void mono_debug_init(MonoDebugFormat format);
void mono_debug_open_image_from_memory(MonoImage *image, const mono_byte *raw_contents, int size);
void mono_debug_cleanup(void);
void mono_debug_close_image(MonoImage *image);
void mono_debug_domain_unload(MonoDomain *domain);
void mono_debug_domain_create(MonoDomain *domain);
MonoDebugMethodAddress *mono_debug_add_method(MonoMethod *method, MonoDebugMethodJitInfo *jit, MonoDomain *domain);
void mono_debug_remove_method(MonoMethod *method, MonoDomain *domain);
MonoDebugMethodInfo *mono_debug_lookup_method(MonoMethod *method);
MonoDebugMethodAddressList *mono_debug_lookup_method_addresses(MonoMethod *method);
MonoDebugMethodJitInfo *mono_debug_find_method(MonoMethod *method, MonoDomain *domain);
MonoDebugHandle *mono_debug_get_handle(MonoImage *image);
void mono_debug_free_method_jit_info(MonoDebugMethodJitInfo *jit);
void mono_debug_add_delegate_trampoline(void *code, int size);
MonoDebugLocalsInfo *mono_debug_lookup_locals(MonoMethod *method);
MonoDebugMethodAsyncInfo *mono_debug_lookup_method_async_debug_info(MonoMethod *method);
MonoDebugSourceLocation *mono_debug_method_lookup_location(MonoDebugMethodInfo *minfo, int il_offset);
MonoDebugSourceLocation *mono_debug_lookup_source_location(MonoMethod *method, uint32_t address, MonoDomain *domain);
int32_t mono_debug_il_offset_from_address(MonoMethod *method, MonoDomain *domain, uint32_t native_offset);
void mono_debug_free_source_location(MonoDebugSourceLocation *location);
char *mono_debug_print_stack_frame(MonoMethod *method, uint32_t native_offset, MonoDomain *domain);
int mono_debugger_method_has_breakpoint(MonoMethod *method);
int mono_debugger_insert_breakpoint(const char *method_name, mono_bool include_namespace);
void mono_set_is_debugger_attached(mono_bool attached);
mono_bool mono_is_debugger_attached(void);
typedef int (*MonoGCReferences) (MonoObject *obj, MonoClass *klass, uintptr_t size, uintptr_t num, MonoObject * *refs, uintptr_t *offsets, void *data);
typedef enum {
    MONO_ROOT_SOURCE_EXTERNAL = 0,
    MONO_ROOT_SOURCE_STACK = 1,
    MONO_ROOT_SOURCE_FINALIZER_QUEUE = 2,
    MONO_ROOT_SOURCE_STATIC = 3,
    MONO_ROOT_SOURCE_THREAD_STATIC = 4,
    MONO_ROOT_SOURCE_CONTEXT_STATIC = 5,
    MONO_ROOT_SOURCE_GC_HANDLE = 6,
    MONO_ROOT_SOURCE_JIT = 7,
    MONO_ROOT_SOURCE_THREADING = 8,
    MONO_ROOT_SOURCE_DOMAIN = 9,
    MONO_ROOT_SOURCE_REFLECTION = 10,
    MONO_ROOT_SOURCE_MARSHAL = 11,
    MONO_ROOT_SOURCE_THREAD_POOL = 12,
    MONO_ROOT_SOURCE_DEBUGGER = 13,
    MONO_ROOT_SOURCE_HANDLE = 14,
    MONO_ROOT_SOURCE_EPHEMERON = 15,
    MONO_ROOT_SOURCE_TOGGLEREF = 16,
} MonoGCRootSource;
typedef enum {
    MONO_GC_HANDLE_TYPE_MIN = 0,
    MONO_GC_HANDLE_WEAK = MONO_GC_HANDLE_TYPE_MIN,
    MONO_GC_HANDLE_WEAK_TRACK_RESURRECTION,
    MONO_GC_HANDLE_NORMAL,
    MONO_GC_HANDLE_PINNED,
    MONO_GC_HANDLE_TYPE_MAX,
} MonoGCHandleType;
void mono_gc_collect(int generation);
int mono_gc_max_generation(void);
int mono_gc_get_generation(MonoObject *object);
int mono_gc_collection_count(int generation);
int64_t mono_gc_get_used_size(void);
int64_t mono_gc_get_heap_size(void);
MonoBoolean mono_gc_pending_finalizers(void);
void mono_gc_finalize_notify(void);
int mono_gc_invoke_finalizers(void);
int mono_gc_walk_heap(int flags, MonoGCReferences callback, void *data);
typedef enum MonoOpcodeEnum {
    MonoOpcodeEnum_Invalid = -1,
    MONO_CEE_NOP,
    MONO_CEE_BREAK,
    MONO_CEE_LDARG_0,
    MONO_CEE_LDARG_1,
    MONO_CEE_LDARG_2,
    MONO_CEE_LDARG_3,
    MONO_CEE_LDLOC_0,
    MONO_CEE_LDLOC_1,
    MONO_CEE_LDLOC_2,
    MONO_CEE_LDLOC_3,
    MONO_CEE_STLOC_0,
    MONO_CEE_STLOC_1,
    MONO_CEE_STLOC_2,
    MONO_CEE_STLOC_3,
    MONO_CEE_LDARG_S,
    MONO_CEE_LDARGA_S,
    MONO_CEE_STARG_S,
    MONO_CEE_LDLOC_S,
    MONO_CEE_LDLOCA_S,
    MONO_CEE_STLOC_S,
    MONO_CEE_LDNULL,
    MONO_CEE_LDC_I4_M1,
    MONO_CEE_LDC_I4_0,
    MONO_CEE_LDC_I4_1,
    MONO_CEE_LDC_I4_2,
    MONO_CEE_LDC_I4_3,
    MONO_CEE_LDC_I4_4,
    MONO_CEE_LDC_I4_5,
    MONO_CEE_LDC_I4_6,
    MONO_CEE_LDC_I4_7,
    MONO_CEE_LDC_I4_8,
    MONO_CEE_LDC_I4_S,
    MONO_CEE_LDC_I4,
    MONO_CEE_LDC_I8,
    MONO_CEE_LDC_R4,
    MONO_CEE_LDC_R8,
    MONO_CEE_UNUSED99,
    MONO_CEE_DUP,
    MONO_CEE_POP,
    MONO_CEE_JMP,
    MONO_CEE_CALL,
    MONO_CEE_CALLI,
    MONO_CEE_RET,
    MONO_CEE_BR_S,
    MONO_CEE_BRFALSE_S,
    MONO_CEE_BRTRUE_S,
    MONO_CEE_BEQ_S,
    MONO_CEE_BGE_S,
    MONO_CEE_BGT_S,
    MONO_CEE_BLE_S,
    MONO_CEE_BLT_S,
    MONO_CEE_BNE_UN_S,
    MONO_CEE_BGE_UN_S,
    MONO_CEE_BGT_UN_S,
    MONO_CEE_BLE_UN_S,
    MONO_CEE_BLT_UN_S,
    MONO_CEE_BR,
    MONO_CEE_BRFALSE,
    MONO_CEE_BRTRUE,
    MONO_CEE_BEQ,
    MONO_CEE_BGE,
    MONO_CEE_BGT,
    MONO_CEE_BLE,
    MONO_CEE_BLT,
    MONO_CEE_BNE_UN,
    MONO_CEE_BGE_UN,
    MONO_CEE_BGT_UN,
    MONO_CEE_BLE_UN,
    MONO_CEE_BLT_UN,
    MONO_CEE_SWITCH,
    MONO_CEE_LDIND_I1,
    MONO_CEE_LDIND_U1,
    MONO_CEE_LDIND_I2,
    MONO_CEE_LDIND_U2,
    MONO_CEE_LDIND_I4,
    MONO_CEE_LDIND_U4,
    MONO_CEE_LDIND_I8,
    MONO_CEE_LDIND_I,
    MONO_CEE_LDIND_R4,
    MONO_CEE_LDIND_R8,
    MONO_CEE_LDIND_REF,
    MONO_CEE_STIND_REF,
    MONO_CEE_STIND_I1,
    MONO_CEE_STIND_I2,
    MONO_CEE_STIND_I4,
    MONO_CEE_STIND_I8,
    MONO_CEE_STIND_R4,
    MONO_CEE_STIND_R8,
    MONO_CEE_ADD,
    MONO_CEE_SUB,
    MONO_CEE_MUL,
    MONO_CEE_DIV,
    MONO_CEE_DIV_UN,
    MONO_CEE_REM,
    MONO_CEE_REM_UN,
    MONO_CEE_AND,
    MONO_CEE_OR,
    MONO_CEE_XOR,
    MONO_CEE_SHL,
    MONO_CEE_SHR,
    MONO_CEE_SHR_UN,
    MONO_CEE_NEG,
    MONO_CEE_NOT,
    MONO_CEE_CONV_I1,
    MONO_CEE_CONV_I2,
    MONO_CEE_CONV_I4,
    MONO_CEE_CONV_I8,
    MONO_CEE_CONV_R4,
    MONO_CEE_CONV_R8,
    MONO_CEE_CONV_U4,
    MONO_CEE_CONV_U8,
    MONO_CEE_CALLVIRT,
    MONO_CEE_CPOBJ,
    MONO_CEE_LDOBJ,
    MONO_CEE_LDSTR,
    MONO_CEE_NEWOBJ,
    MONO_CEE_CASTCLASS,
    MONO_CEE_ISINST,
    MONO_CEE_CONV_R_UN,
    MONO_CEE_UNUSED58,
    MONO_CEE_UNUSED1,
    MONO_CEE_UNBOX,
    MONO_CEE_THROW,
    MONO_CEE_LDFLD,
    MONO_CEE_LDFLDA,
    MONO_CEE_STFLD,
    MONO_CEE_LDSFLD,
    MONO_CEE_LDSFLDA,
    MONO_CEE_STSFLD,
    MONO_CEE_STOBJ,
    MONO_CEE_CONV_OVF_I1_UN,
    MONO_CEE_CONV_OVF_I2_UN,
    MONO_CEE_CONV_OVF_I4_UN,
    MONO_CEE_CONV_OVF_I8_UN,
    MONO_CEE_CONV_OVF_U1_UN,
    MONO_CEE_CONV_OVF_U2_UN,
    MONO_CEE_CONV_OVF_U4_UN,
    MONO_CEE_CONV_OVF_U8_UN,
    MONO_CEE_CONV_OVF_I_UN,
    MONO_CEE_CONV_OVF_U_UN,
    MONO_CEE_BOX,
    MONO_CEE_NEWARR,
    MONO_CEE_LDLEN,
    MONO_CEE_LDELEMA,
    MONO_CEE_LDELEM_I1,
    MONO_CEE_LDELEM_U1,
    MONO_CEE_LDELEM_I2,
    MONO_CEE_LDELEM_U2,
    MONO_CEE_LDELEM_I4,
    MONO_CEE_LDELEM_U4,
    MONO_CEE_LDELEM_I8,
    MONO_CEE_LDELEM_I,
    MONO_CEE_LDELEM_R4,
    MONO_CEE_LDELEM_R8,
    MONO_CEE_LDELEM_REF,
    MONO_CEE_STELEM_I,
    MONO_CEE_STELEM_I1,
    MONO_CEE_STELEM_I2,
    MONO_CEE_STELEM_I4,
    MONO_CEE_STELEM_I8,
    MONO_CEE_STELEM_R4,
    MONO_CEE_STELEM_R8,
    MONO_CEE_STELEM_REF,
    MONO_CEE_LDELEM,
    MONO_CEE_STELEM,
    MONO_CEE_UNBOX_ANY,
    MONO_CEE_UNUSED5,
    MONO_CEE_UNUSED6,
    MONO_CEE_UNUSED7,
    MONO_CEE_UNUSED8,
    MONO_CEE_UNUSED9,
    MONO_CEE_UNUSED10,
    MONO_CEE_UNUSED11,
    MONO_CEE_UNUSED12,
    MONO_CEE_UNUSED13,
    MONO_CEE_UNUSED14,
    MONO_CEE_UNUSED15,
    MONO_CEE_UNUSED16,
    MONO_CEE_UNUSED17,
    MONO_CEE_CONV_OVF_I1,
    MONO_CEE_CONV_OVF_U1,
    MONO_CEE_CONV_OVF_I2,
    MONO_CEE_CONV_OVF_U2,
    MONO_CEE_CONV_OVF_I4,
    MONO_CEE_CONV_OVF_U4,
    MONO_CEE_CONV_OVF_I8,
    MONO_CEE_CONV_OVF_U8,
    MONO_CEE_UNUSED50,
    MONO_CEE_UNUSED18,
    MONO_CEE_UNUSED19,
    MONO_CEE_UNUSED20,
    MONO_CEE_UNUSED21,
    MONO_CEE_UNUSED22,
    MONO_CEE_UNUSED23,
    MONO_CEE_REFANYVAL,
    MONO_CEE_CKFINITE,
    MONO_CEE_UNUSED24,
    MONO_CEE_UNUSED25,
    MONO_CEE_MKREFANY,
    MONO_CEE_UNUSED59,
    MONO_CEE_UNUSED60,
    MONO_CEE_UNUSED61,
    MONO_CEE_UNUSED62,
    MONO_CEE_UNUSED63,
    MONO_CEE_UNUSED64,
    MONO_CEE_UNUSED65,
    MONO_CEE_UNUSED66,
    MONO_CEE_UNUSED67,
    MONO_CEE_LDTOKEN,
    MONO_CEE_CONV_U2,
    MONO_CEE_CONV_U1,
    MONO_CEE_CONV_I,
    MONO_CEE_CONV_OVF_I,
    MONO_CEE_CONV_OVF_U,
    MONO_CEE_ADD_OVF,
    MONO_CEE_ADD_OVF_UN,
    MONO_CEE_MUL_OVF,
    MONO_CEE_MUL_OVF_UN,
    MONO_CEE_SUB_OVF,
    MONO_CEE_SUB_OVF_UN,
    MONO_CEE_ENDFINALLY,
    MONO_CEE_LEAVE,
    MONO_CEE_LEAVE_S,
    MONO_CEE_STIND_I,
    MONO_CEE_CONV_U,
    MONO_CEE_UNUSED26,
    MONO_CEE_UNUSED27,
    MONO_CEE_UNUSED28,
    MONO_CEE_UNUSED29,
    MONO_CEE_UNUSED30,
    MONO_CEE_UNUSED31,
    MONO_CEE_UNUSED32,
    MONO_CEE_UNUSED33,
    MONO_CEE_UNUSED34,
    MONO_CEE_UNUSED35,
    MONO_CEE_UNUSED36,
    MONO_CEE_UNUSED37,
    MONO_CEE_UNUSED38,
    MONO_CEE_UNUSED39,
    MONO_CEE_UNUSED40,
    MONO_CEE_UNUSED41,
    MONO_CEE_UNUSED42,
    MONO_CEE_UNUSED43,
    MONO_CEE_UNUSED44,
    MONO_CEE_UNUSED45,
    MONO_CEE_UNUSED46,
    MONO_CEE_UNUSED47,
    MONO_CEE_UNUSED48,
    MONO_CEE_PREFIX7,
    MONO_CEE_PREFIX6,
    MONO_CEE_PREFIX5,
    MONO_CEE_PREFIX4,
    MONO_CEE_PREFIX3,
    MONO_CEE_PREFIX2,
    MONO_CEE_PREFIX1,
    MONO_CEE_PREFIXREF,
    MONO_CEE_ARGLIST,
    MONO_CEE_CEQ,
    MONO_CEE_CGT,
    MONO_CEE_CGT_UN,
    MONO_CEE_CLT,
    MONO_CEE_CLT_UN,
    MONO_CEE_LDFTN,
    MONO_CEE_LDVIRTFTN,
    MONO_CEE_UNUSED56,
    MONO_CEE_LDARG,
    MONO_CEE_LDARGA,
    MONO_CEE_STARG,
    MONO_CEE_LDLOC,
    MONO_CEE_LDLOCA,
    MONO_CEE_STLOC,
    MONO_CEE_LOCALLOC,
    MONO_CEE_UNUSED57,
    MONO_CEE_ENDFILTER,
    MONO_CEE_UNALIGNED_,
    MONO_CEE_VOLATILE_,
    MONO_CEE_TAIL_,
    MONO_CEE_INITOBJ,
    MONO_CEE_CONSTRAINED_,
    MONO_CEE_CPBLK,
    MONO_CEE_INITBLK,
    MONO_CEE_NO_,
    MONO_CEE_RETHROW,
    MONO_CEE_UNUSED,
    MONO_CEE_SIZEOF,
    MONO_CEE_REFANYTYPE,
    MONO_CEE_READONLY_,
    MONO_CEE_UNUSED53,
    MONO_CEE_UNUSED54,
    MONO_CEE_UNUSED55,
    MONO_CEE_UNUSED70,
    MONO_CEE_ILLEGAL,
    MONO_CEE_ENDMAC,
    MONO_CEE_MONO_ICALL,
    MONO_CEE_MONO_OBJADDR,
    MONO_CEE_MONO_LDPTR,
    MONO_CEE_MONO_VTADDR,
    MONO_CEE_MONO_NEWOBJ,
    MONO_CEE_MONO_RETOBJ,
    MONO_CEE_MONO_LDNATIVEOBJ,
    MONO_CEE_MONO_CISINST,
    MONO_CEE_MONO_CCASTCLASS,
    MONO_CEE_MONO_SAVE_LMF,
    MONO_CEE_MONO_RESTORE_LMF,
    MONO_CEE_MONO_CLASSCONST,
    MONO_CEE_MONO_NOT_TAKEN,
    MONO_CEE_MONO_TLS,
    MONO_CEE_MONO_ICALL_ADDR,
    MONO_CEE_MONO_DYN_CALL,
    MONO_CEE_MONO_MEMORY_BARRIER,
    MONO_CEE_UNUSED71,
    MONO_CEE_UNUSED72,
    MONO_CEE_MONO_JIT_ICALL_ADDR,
    MONO_CEE_MONO_LDPTR_INT_REQ_FLAG,
    MONO_CEE_MONO_LDPTR_CARD_TABLE,
    MONO_CEE_MONO_LDPTR_NURSERY_START,
    MONO_CEE_MONO_LDPTR_NURSERY_BITS,
    MONO_CEE_MONO_CALLI_EXTRA_ARG,
    MONO_CEE_MONO_LDDOMAIN,
    MONO_CEE_MONO_ATOMIC_STORE_I4,
    MONO_CEE_MONO_SAVE_LAST_ERROR,
    MONO_CEE_MONO_GET_RGCTX_ARG,
    MONO_CEE_MONO_LDPTR_PROFILER_ALLOCATION_COUNT,
    MONO_CEE_MONO_LD_DELEGATE_METHOD_PTR,
    MONO_CEE_MONO_RETHROW,
    MONO_CEE_LAST,
} MonoOpcodeEnum;
enum {
    MONO_FLOW_NEXT,
    MONO_FLOW_BRANCH,
    MONO_FLOW_COND_BRANCH,
    MONO_FLOW_ERROR,
    MONO_FLOW_CALL,
    MONO_FLOW_RETURN,
    MONO_FLOW_META,
};
enum {
    MonoInlineNone = 0,
    MonoInlineType = 1,
    MonoInlineField = 2,
    MonoInlineMethod = 3,
    MonoInlineTok = 4,
    MonoInlineString = 5,
    MonoInlineSig = 6,
    MonoInlineVar = 7,
    MonoShortInlineVar = 8,
    MonoInlineBrTarget = 9,
    MonoShortInlineBrTarget = 10,
    MonoInlineSwitch = 11,
    MonoInlineR = 12,
    MonoShortInlineR = 13,
    MonoInlineI = 14,
    MonoShortInlineI = 15,
    MonoInlineI8 = 16,
};
typedef struct {
    unsigned char argument;
    unsigned char flow_type;
    unsigned short opval;
} MonoOpcode;
extern const MonoOpcode mono_opcodes [];
const char *mono_opcode_name(int opcode);
MonoOpcodeEnum mono_opcode_value(const mono_byte * *ip, const mono_byte *end);
typedef struct _MonoProfiler MonoProfiler;
typedef struct _MonoProfilerDesc *MonoProfilerHandle;
typedef void (*MonoProfilerCleanupCallback) (MonoProfiler *prof);
void mono_profiler_load(const char *desc);
MonoProfilerHandle mono_profiler_create(MonoProfiler *prof);
void mono_profiler_set_cleanup_callback(MonoProfilerHandle handle, MonoProfilerCleanupCallback cb);
typedef struct {
    MonoMethod *method;
    uint32_t il_offset;
    uint32_t counter;
    const char *file_name;
    uint32_t line;
    uint32_t column;
} MonoProfilerCoverageData;
typedef mono_bool (*MonoProfilerCoverageFilterCallback) (MonoProfiler *prof, MonoMethod *method);
typedef void (*MonoProfilerCoverageCallback) (MonoProfiler *prof, const MonoProfilerCoverageData *data);
mono_bool mono_profiler_enable_coverage(void);
void mono_profiler_set_coverage_filter_callback(MonoProfilerHandle handle, MonoProfilerCoverageFilterCallback cb);
mono_bool mono_profiler_get_coverage_data(MonoProfilerHandle handle, MonoMethod *method, MonoProfilerCoverageCallback cb);
typedef enum {
    MONO_PROFILER_SAMPLE_MODE_NONE = 0,
    MONO_PROFILER_SAMPLE_MODE_PROCESS = 1,
    MONO_PROFILER_SAMPLE_MODE_REAL = 2,
} MonoProfilerSampleMode;
mono_bool mono_profiler_enable_sampling(MonoProfilerHandle handle);
mono_bool mono_profiler_set_sample_mode(MonoProfilerHandle handle, MonoProfilerSampleMode mode, uint32_t freq);
mono_bool mono_profiler_get_sample_mode(MonoProfilerHandle handle, MonoProfilerSampleMode *mode, uint32_t *freq);
mono_bool mono_profiler_enable_allocations(void);
mono_bool mono_profiler_enable_clauses(void);
typedef struct _MonoProfilerCallContext MonoProfilerCallContext;
typedef enum {
    MONO_PROFILER_CALL_INSTRUMENTATION_NONE = 0,
    MONO_PROFILER_CALL_INSTRUMENTATION_ENTER = 1 << 1,
    MONO_PROFILER_CALL_INSTRUMENTATION_ENTER_CONTEXT = 1 << 2,
    MONO_PROFILER_CALL_INSTRUMENTATION_LEAVE = 1 << 3,
    MONO_PROFILER_CALL_INSTRUMENTATION_LEAVE_CONTEXT = 1 << 4,
    MONO_PROFILER_CALL_INSTRUMENTATION_TAIL_CALL = 1 << 5,
    MONO_PROFILER_CALL_INSTRUMENTATION_EXCEPTION_LEAVE = 1 << 6,
} MonoProfilerCallInstrumentationFlags;
typedef MonoProfilerCallInstrumentationFlags (*MonoProfilerCallInstrumentationFilterCallback) (MonoProfiler *prof, MonoMethod *method);
void mono_profiler_set_call_instrumentation_filter_callback(MonoProfilerHandle handle, MonoProfilerCallInstrumentationFilterCallback cb);
mono_bool mono_profiler_enable_call_context_introspection(void);
void *mono_profiler_call_context_get_this(MonoProfilerCallContext *context);
void *mono_profiler_call_context_get_argument(MonoProfilerCallContext *context, uint32_t position);
void *mono_profiler_call_context_get_local(MonoProfilerCallContext *context, uint32_t position);
void *mono_profiler_call_context_get_result(MonoProfilerCallContext *context);
void mono_profiler_call_context_free_buffer(void *buffer);
typedef enum {
    MONO_PROFILER_CODE_BUFFER_METHOD = 0,
    MONO_PROFILER_CODE_BUFFER_METHOD_TRAMPOLINE = 1,
    MONO_PROFILER_CODE_BUFFER_UNBOX_TRAMPOLINE = 2,
    MONO_PROFILER_CODE_BUFFER_IMT_TRAMPOLINE = 3,
    MONO_PROFILER_CODE_BUFFER_GENERICS_TRAMPOLINE = 4,
    MONO_PROFILER_CODE_BUFFER_SPECIFIC_TRAMPOLINE = 5,
    MONO_PROFILER_CODE_BUFFER_HELPER = 6,
    MONO_PROFILER_CODE_BUFFER_MONITOR = 7,
    MONO_PROFILER_CODE_BUFFER_DELEGATE_INVOKE = 8,
    MONO_PROFILER_CODE_BUFFER_EXCEPTION_HANDLING = 9,
} MonoProfilerCodeBufferType;
typedef enum {
    MONO_GC_EVENT_PRE_STOP_WORLD = 6,
    MONO_GC_EVENT_PRE_STOP_WORLD_LOCKED = 10,
    MONO_GC_EVENT_POST_STOP_WORLD = 7,
    MONO_GC_EVENT_START = 0,
    MONO_GC_EVENT_END = 5,
    MONO_GC_EVENT_PRE_START_WORLD = 8,
    MONO_GC_EVENT_POST_START_WORLD_UNLOCKED = 11,
    MONO_GC_EVENT_POST_START_WORLD = 9,
} MonoProfilerGCEvent;
typedef void (*MonoProfilerRuntimeInitializedCallback) (MonoProfiler *prof);
typedef void (*MonoProfilerRuntimeShutdownBeginCallback) (MonoProfiler *prof);
typedef void (*MonoProfilerRuntimeShutdownEndCallback) (MonoProfiler *prof);
typedef void (*MonoProfilerContextLoadedCallback) (MonoProfiler *prof, MonoAppContext *context);
typedef void (*MonoProfilerContextUnloadedCallback) (MonoProfiler *prof, MonoAppContext *context);
typedef void (*MonoProfilerDomainLoadingCallback) (MonoProfiler *prof, MonoDomain *domain);
typedef void (*MonoProfilerDomainLoadedCallback) (MonoProfiler *prof, MonoDomain *domain);
typedef void (*MonoProfilerDomainUnloadingCallback) (MonoProfiler *prof, MonoDomain *domain);
typedef void (*MonoProfilerDomainUnloadedCallback) (MonoProfiler *prof, MonoDomain *domain);
typedef void (*MonoProfilerDomainNameCallback) (MonoProfiler *prof, MonoDomain *domain, const char *name);
typedef void (*MonoProfilerJitBeginCallback) (MonoProfiler *prof, MonoMethod *method);
typedef void (*MonoProfilerJitFailedCallback) (MonoProfiler *prof, MonoMethod *method);
typedef void (*MonoProfilerJitDoneCallback) (MonoProfiler *prof, MonoMethod *method, MonoJitInfo *jinfo);
typedef void (*MonoProfilerJitChunkCreatedCallback) (MonoProfiler *prof, const mono_byte *chunk, uintptr_t size);
typedef void (*MonoProfilerJitChunkDestroyedCallback) (MonoProfiler *prof, const mono_byte *chunk);
typedef void (*MonoProfilerJitCodeBufferCallback) (MonoProfiler *prof, const mono_byte *buffer, uint64_t size, MonoProfilerCodeBufferType type, const void *data);
typedef void (*MonoProfilerClassLoadingCallback) (MonoProfiler *prof, MonoClass *klass);
typedef void (*MonoProfilerClassFailedCallback) (MonoProfiler *prof, MonoClass *klass);
typedef void (*MonoProfilerClassLoadedCallback) (MonoProfiler *prof, MonoClass *klass);
typedef void (*MonoProfilerVTableLoadingCallback) (MonoProfiler *prof, MonoVTable *vtable);
typedef void (*MonoProfilerVTableFailedCallback) (MonoProfiler *prof, MonoVTable *vtable);
typedef void (*MonoProfilerVTableLoadedCallback) (MonoProfiler *prof, MonoVTable *vtable);
typedef void (*MonoProfilerModuleLoadingCallback) (MonoProfiler *prof, MonoImage *image);
typedef void (*MonoProfilerModuleFailedCallback) (MonoProfiler *prof, MonoImage *image);
typedef void (*MonoProfilerModuleLoadedCallback) (MonoProfiler *prof, MonoImage *image);
typedef void (*MonoProfilerModuleUnloadingCallback) (MonoProfiler *prof, MonoImage *image);
typedef void (*MonoProfilerModuleUnloadedCallback) (MonoProfiler *prof, MonoImage *image);
typedef void (*MonoProfilerAssemblyLoadingCallback) (MonoProfiler *prof, MonoAssembly *assembly);
typedef void (*MonoProfilerAssemblyLLoadedCallback) (MonoProfiler *prof, MonoAssembly *assembly);
typedef void (*MonoProfilerAssemblyLUnloadingCallback) (MonoProfiler *prof, MonoAssembly *assembly);
typedef void (*MonoProfilerAssemblyLUnloadedCallback) (MonoProfiler *prof, MonoAssembly *assembly);
typedef void (*MonoProfilerMethodEnterCallback) (MonoProfiler *prof, MonoMethod *method, MonoProfilerCallContext *context);
typedef void (*MonoProfilerMethodLeaveCallback) (MonoProfiler *prof, MonoMethod *method, MonoProfilerCallContext *context);
typedef void (*MonoProfilerMethodTailCallCallback) (MonoProfiler *prof, MonoMethod *method, MonoMethod *target);
typedef void (*MonoProfilerMethodExceptionLeaveCallback) (MonoProfiler *prof, MonoMethod *method, MonoObject *exception);
typedef void (*MonoProfilerMethodFreeCallback) (MonoProfiler *prof, MonoMethod *method);
typedef void (*MonoProfilerMethodBeginInvokeCallback) (MonoProfiler *prof, MonoMethod *method);
typedef void (*MonoProfilerMethodEndInvokeCallback) (MonoProfiler *prof, MonoMethod *method);
typedef void (*MonoProfilerExceptionThrowCallback) (MonoProfiler *prof, MonoObject *exception);
typedef void (*MonoProfilerExceptionClauseCallback) (MonoProfiler *prof, MonoMethod *method, uint32_t index, MonoExceptionEnum type, MonoObject *exception);
typedef void (*MonoProfilerGCEvent2Callback) (MonoProfiler *prof, MonoProfilerGCEvent event, uint32_t generation, mono_bool is_serial);
typedef void (*MonoProfilerGCAllocationCallback) (MonoProfiler *prof, MonoObject *object);
typedef void (*MonoProfilerGCMovesCallback) (MonoProfiler *prof, MonoObject *const *objects, uint64_t count);
typedef void (*MonoProfilerGCResizeCallback) (MonoProfiler *prof, uintptr_t size);
typedef void (*MonoProfilerGCHandleCreatedCallback) (MonoProfiler *prof, uint32_t handle, MonoGCHandleType type, MonoObject *object);
typedef void (*MonoProfilerGCHandleDeletedCallback) (MonoProfiler *prof, uint32_t handle, MonoGCHandleType type);
typedef void (*MonoProfilerGCFinalizingCallback) (MonoProfiler *prof);
typedef void (*MonoProfilerGCFinalizedCallback) (MonoProfiler *prof);
typedef void (*MonoProfilerGCFinalizingObjectCallback) (MonoProfiler *prof, MonoObject *object);
typedef void (*MonoProfilerGCFinalizedObjectCallback) (MonoProfiler *prof, MonoObject *object);
typedef void (*MonoProfilerRootRegisterCallback) (MonoProfiler *prof, const mono_byte *start, uintptr_t size, MonoGCRootSource source, const void *key, const char *name);
typedef void (*MonoProfilerRootUnregisterCallback) (MonoProfiler *prof, const mono_byte *start);
typedef void (*MonoProfilerGCRootsCallback) (MonoProfiler *prof, uint64_t count, const mono_byte *const *addresses, MonoObject *const *objects);
typedef void (*MonoProfilerMonitorContentionCallback) (MonoProfiler *prof, MonoObject *object);
typedef void (*MonoProfilerMonitorFailedCallback) (MonoProfiler *prof, MonoObject *object);
typedef void (*MonoProfilerMonitorAcquiredCallback) (MonoProfiler *prof, MonoObject *object);
typedef void (*MonoProfilerThreadStartedCallback) (MonoProfiler *prof, uintptr_t tid);
typedef void (*MonoProfilerThreadStoppingCallback) (MonoProfiler *prof, uintptr_t tid);
typedef void (*MonoProfilerThreadStoppedCallback) (MonoProfiler *prof, uintptr_t tid);
typedef void (*MonoProfilerThreadExitedCallback) (MonoProfiler *prof, uintptr_t tid);
typedef void (*MonoProfilerThreadNameCallback) (MonoProfiler *prof, uintptr_t tid, const char *name);
typedef void (*MonoProfilerSampleHitCallback) (MonoProfiler *prof, const mono_byte *ip, const void *context);
void mono_profiler_set_runtime_initialized_callback(MonoProfilerHandle handle, MonoProfilerRuntimeInitializedCallback cb);
void mono_profiler_set_runtime_shutdown_begin_callback(MonoProfilerHandle handle, MonoProfilerRuntimeShutdownBeginCallback cb);
void mono_profiler_set_runtime_shutdown_end_callback(MonoProfilerHandle handle, MonoProfilerRuntimeShutdownEndCallback cb);
void mono_profiler_set_context_loaded_callback(MonoProfilerHandle handle, MonoProfilerContextLoadedCallback cb);
void mono_profiler_set_context_unloaded_callback(MonoProfilerHandle handle, MonoProfilerContextUnloadedCallback cb);
void mono_profiler_set_domain_loading_callback(MonoProfilerHandle handle, MonoProfilerDomainLoadingCallback cb);
void mono_profiler_set_domain_loaded_callback(MonoProfilerHandle handle, MonoProfilerDomainLoadedCallback cb);
void mono_profiler_set_domain_unloading_callback(MonoProfilerHandle handle, MonoProfilerDomainUnloadingCallback cb);
void mono_profiler_set_domain_unloaded_callback(MonoProfilerHandle handle, MonoProfilerDomainUnloadedCallback cb);
void mono_profiler_set_domain_name_callback(MonoProfilerHandle handle, MonoProfilerDomainNameCallback cb);
void mono_profiler_set_jit_begin_callback(MonoProfilerHandle handle, MonoProfilerJitBeginCallback cb);
void mono_profiler_set_jit_failed_callback(MonoProfilerHandle handle, MonoProfilerJitFailedCallback cb);
void mono_profiler_set_jit_done_callback(MonoProfilerHandle handle, MonoProfilerJitDoneCallback cb);
void mono_profiler_set_jit_chunk_created_callback(MonoProfilerHandle handle, MonoProfilerJitChunkCreatedCallback cb);
void mono_profiler_set_jit_chunk_destroyed_callback(MonoProfilerHandle handle, MonoProfilerJitChunkDestroyedCallback cb);
void mono_profiler_set_jit_code_buffer_callback(MonoProfilerHandle handle, MonoProfilerJitCodeBufferCallback cb);
void mono_profiler_set_class_loading_callback(MonoProfilerHandle handle, MonoProfilerClassLoadingCallback cb);
void mono_profiler_set_class_failed_callback(MonoProfilerHandle handle, MonoProfilerClassFailedCallback cb);
void mono_profiler_set_class_loaded_callback(MonoProfilerHandle handle, MonoProfilerClassLoadedCallback cb);
void mono_profiler_set_vtable_loading_callback(MonoProfilerHandle handle, MonoProfilerVTableLoadingCallback cb);
void mono_profiler_set_vtable_failed_callback(MonoProfilerHandle handle, MonoProfilerVTableFailedCallback cb);
void mono_profiler_set_vtable_loaded_callback(MonoProfilerHandle handle, MonoProfilerVTableLoadedCallback cb);
void mono_profiler_set_image_loading_callback(MonoProfilerHandle handle, MonoProfilerModuleLoadingCallback cb);
void mono_profiler_set_image_failed_callback(MonoProfilerHandle handle, MonoProfilerModuleFailedCallback cb);
void mono_profiler_set_image_loaded_callback(MonoProfilerHandle handle, MonoProfilerModuleLoadedCallback cb);
void mono_profiler_set_image_unloading_callback(MonoProfilerHandle handle, MonoProfilerModuleUnloadingCallback cb);
void mono_profiler_set_image_unloaded_callback(MonoProfilerHandle handle, MonoProfilerModuleUnloadedCallback cb);
void mono_profiler_set_assembly_loading_callback(MonoProfilerHandle handle, MonoProfilerAssemblyLoadingCallback cb);
void mono_profiler_set_assembly_loaded_callback(MonoProfilerHandle handle, MonoProfilerAssemblyLLoadedCallback cb);
void mono_profiler_set_assembly_unloading_callback(MonoProfilerHandle handle, MonoProfilerAssemblyLUnloadingCallback cb);
void mono_profiler_set_assembly_unloaded_callback(MonoProfilerHandle handle, MonoProfilerAssemblyLUnloadedCallback cb);
void mono_profiler_set_method_enter_callback(MonoProfilerHandle handle, MonoProfilerMethodEnterCallback cb);
void mono_profiler_set_method_leave_callback(MonoProfilerHandle handle, MonoProfilerMethodLeaveCallback cb);
void mono_profiler_set_method_tail_call_callback(MonoProfilerHandle handle, MonoProfilerMethodTailCallCallback cb);
void mono_profiler_set_method_exception_leave_callback(MonoProfilerHandle handle, MonoProfilerMethodExceptionLeaveCallback cb);
void mono_profiler_set_method_free_callback(MonoProfilerHandle handle, MonoProfilerMethodFreeCallback cb);
void mono_profiler_set_method_begin_invoke_callback(MonoProfilerHandle handle, MonoProfilerMethodBeginInvokeCallback cb);
void mono_profiler_set_method_end_invoke_callback(MonoProfilerHandle handle, MonoProfilerMethodEndInvokeCallback cb);
void mono_profiler_set_exception_throw_callback(MonoProfilerHandle handle, MonoProfilerExceptionThrowCallback cb);
void mono_profiler_set_exception_clause_callback(MonoProfilerHandle handle, MonoProfilerExceptionClauseCallback cb);
void mono_profiler_set_gc_event_callback(MonoProfilerHandle handle, MonoProfilerGCEvent2Callback cb);
void mono_profiler_set_gc_allocation_callback(MonoProfilerHandle handle, MonoProfilerGCAllocationCallback cb);
void mono_profiler_set_gc_moves_callback(MonoProfilerHandle handle, MonoProfilerGCMovesCallback cb);
void mono_profiler_set_gc_resize_callback(MonoProfilerHandle handle, MonoProfilerGCResizeCallback cb);
void mono_profiler_set_gc_handle_created_callback(MonoProfilerHandle handle, MonoProfilerGCHandleCreatedCallback cb);
void mono_profiler_set_gc_handle_deleted_callback(MonoProfilerHandle handle, MonoProfilerGCHandleDeletedCallback cb);
void mono_profiler_set_gc_finalizing_callback(MonoProfilerHandle handle, MonoProfilerGCFinalizingCallback cb);
void mono_profiler_set_gc_finalized_callback(MonoProfilerHandle handle, MonoProfilerGCFinalizedCallback cb);
void mono_profiler_set_gc_finalizing_object_callback(MonoProfilerHandle handle, MonoProfilerGCFinalizingObjectCallback cb);
void mono_profiler_set_gc_finalized_object_callback(MonoProfilerHandle handle, MonoProfilerGCFinalizedObjectCallback cb);
void mono_profiler_set_gc_root_register_callback(MonoProfilerHandle handle, MonoProfilerRootRegisterCallback cb);
void mono_profiler_set_gc_root_unregister_callback(MonoProfilerHandle handle, MonoProfilerRootUnregisterCallback cb);
void mono_profiler_set_gc_roots_callback(MonoProfilerHandle handle, MonoProfilerGCRootsCallback cb);
void mono_profiler_set_monitor_contention_callback(MonoProfilerHandle handle, MonoProfilerMonitorContentionCallback cb);
void mono_profiler_set_monitor_failed_callback(MonoProfilerHandle handle, MonoProfilerMonitorFailedCallback cb);
void mono_profiler_set_monitor_acquired_callback(MonoProfilerHandle handle, MonoProfilerMonitorAcquiredCallback cb);
void mono_profiler_set_thread_started_callback(MonoProfilerHandle handle, MonoProfilerThreadStartedCallback cb);
void mono_profiler_set_thread_stopping_callback(MonoProfilerHandle handle, MonoProfilerThreadStoppingCallback cb);
void mono_profiler_set_thread_stopped_callback(MonoProfilerHandle handle, MonoProfilerThreadStoppedCallback cb);
void mono_profiler_set_thread_exited_callback(MonoProfilerHandle handle, MonoProfilerThreadExitedCallback cb);
void mono_profiler_set_thread_name_callback(MonoProfilerHandle handle, MonoProfilerThreadNameCallback cb);
void mono_profiler_set_sample_hit_callback(MonoProfilerHandle handle, MonoProfilerSampleHitCallback cb);
enum {
    SGEN_BRIDGE_VERSION = 5,
};
typedef enum {
    GC_BRIDGE_TRANSPARENT_CLASS,
    GC_BRIDGE_OPAQUE_CLASS,
    GC_BRIDGE_TRANSPARENT_BRIDGE_CLASS,
    GC_BRIDGE_OPAQUE_BRIDGE_CLASS,
} MonoGCBridgeObjectKind;
typedef struct {
    mono_bool is_alive;
    int num_objs;
    MonoObject *objs [0];
} MonoGCBridgeSCC;
typedef struct {
    int src_scc_index;
    int dst_scc_index;
} MonoGCBridgeXRef;
typedef struct {
    int bridge_version;
    MonoGCBridgeObjectKind (*bridge_class_kind) (MonoClass *klass);
    mono_bool (*is_bridge_object) (MonoObject *object);
    void (*cross_references) (int num_sccs, MonoGCBridgeSCC * *sccs, int num_xrefs, MonoGCBridgeXRef *xrefs);
} MonoGCBridgeCallbacks;
void mono_gc_register_bridge_callbacks(MonoGCBridgeCallbacks *callbacks);
void mono_gc_wait_for_bridge_processing(void);
typedef mono_bool (*MonoThreadManageCallback) (MonoThread *thread);
void mono_thread_init(MonoThreadStartCB start_cb, MonoThreadAttachCB attach_cb);
void mono_thread_cleanup(void);
void mono_thread_manage(void);
MonoThread *mono_thread_current(void);
void mono_thread_set_main(MonoThread *thread);
MonoThread *mono_thread_get_main(void);
void mono_thread_stop(MonoThread *thread);
void mono_thread_new_init(intptr_t tid, void *stack_start, void *func);
void mono_thread_create(MonoDomain *domain, void *func, void *arg);
MonoThread *mono_thread_attach(MonoDomain *domain);
void mono_thread_detach(MonoThread *thread);
void mono_thread_exit(void);
void mono_threads_attach_tools_thread(void);
char *mono_thread_get_name_utf8(MonoThread *thread);
int32_t mono_thread_get_managed_id(MonoThread *thread);
void mono_thread_set_manage_callback(MonoThread *thread, MonoThreadManageCallback func);
void mono_threads_set_default_stacksize(uint32_t stacksize);
uint32_t mono_threads_get_default_stacksize(void);
void mono_threads_request_thread_dump(void);
mono_bool mono_thread_is_foreign(MonoThread *thread);
mono_bool mono_thread_detach_if_exiting(void);
typedef enum {
    MONO_TOKEN_MODULE = 0x00000000,
    MONO_TOKEN_TYPE_REF = 0x01000000,
    MONO_TOKEN_TYPE_DEF = 0x02000000,
    MONO_TOKEN_FIELD_DEF = 0x04000000,
    MONO_TOKEN_METHOD_DEF = 0x06000000,
    MONO_TOKEN_PARAM_DEF = 0x08000000,
    MONO_TOKEN_INTERFACE_IMPL = 0x09000000,
    MONO_TOKEN_MEMBER_REF = 0x0a000000,
    MONO_TOKEN_CUSTOM_ATTRIBUTE = 0x0c000000,
    MONO_TOKEN_PERMISSION = 0x0e000000,
    MONO_TOKEN_SIGNATURE = 0x11000000,
    MONO_TOKEN_EVENT = 0x14000000,
    MONO_TOKEN_PROPERTY = 0x17000000,
    MONO_TOKEN_MODULE_REF = 0x1a000000,
    MONO_TOKEN_TYPE_SPEC = 0x1b000000,
    MONO_TOKEN_ASSEMBLY = 0x20000000,
    MONO_TOKEN_ASSEMBLY_REF = 0x23000000,
    MONO_TOKEN_FILE = 0x26000000,
    MONO_TOKEN_EXPORTED_TYPE = 0x27000000,
    MONO_TOKEN_MANIFEST_RESOURCE = 0x28000000,
    MONO_TOKEN_GENERIC_PARAM = 0x2a000000,
    MONO_TOKEN_METHOD_SPEC = 0x2b000000,
    MONO_TOKEN_STRING = 0x70000000,
    MONO_TOKEN_NAME = 0x71000000,
    MONO_TOKEN_BASE_TYPE = 0x72000000,
} MonoTokenType;
enum {
    MONO_COUNTER_INT,
    MONO_COUNTER_UINT,
    MONO_COUNTER_WORD,
    MONO_COUNTER_LONG,
    MONO_COUNTER_ULONG,
    MONO_COUNTER_DOUBLE,
    MONO_COUNTER_STRING,
    MONO_COUNTER_TIME_INTERVAL,
    MONO_COUNTER_TYPE_MASK = 0xf,
    MONO_COUNTER_CALLBACK = 128,
    MONO_COUNTER_SECTION_MASK = 0x00ffff00,
    MONO_COUNTER_JIT = 1 << 8,
    MONO_COUNTER_GC = 1 << 9,
    MONO_COUNTER_METADATA = 1 << 10,
    MONO_COUNTER_GENERICS = 1 << 11,
    MONO_COUNTER_SECURITY = 1 << 12,
    MONO_COUNTER_RUNTIME = 1 << 13,
    MONO_COUNTER_SYSTEM = 1 << 14,
    MONO_COUNTER_PERFCOUNTERS = 1 << 15,
    MONO_COUNTER_PROFILER = 1 << 16,
    MONO_COUNTER_INTERP = 1 << 17,
    MONO_COUNTER_LAST_SECTION,
    MONO_COUNTER_UNIT_SHIFT = 24,
    MONO_COUNTER_UNIT_MASK = 0xFu << MONO_COUNTER_UNIT_SHIFT,
    MONO_COUNTER_RAW = 0 << 24,
    MONO_COUNTER_BYTES = 1 << 24,
    MONO_COUNTER_TIME = 2 << 24,
    MONO_COUNTER_COUNT = 3 << 24,
    MONO_COUNTER_PERCENTAGE = 4 << 24,
    MONO_COUNTER_VARIANCE_SHIFT = 28,
    MONO_COUNTER_VARIANCE_MASK = 0xFu << MONO_COUNTER_VARIANCE_SHIFT,
    MONO_COUNTER_MONOTONIC = 1 << 28,
    MONO_COUNTER_CONSTANT = 1 << 29,
    MONO_COUNTER_VARIABLE = 1 << 30,
};
typedef struct _MonoCounter MonoCounter;
void mono_counters_enable(int section_mask);
void mono_counters_init(void);
void mono_counters_register(const char *descr, int type, void *addr);
void mono_counters_register_with_size(const char *name, int type, void *addr, int size);
typedef void (*MonoCounterRegisterCallback) (MonoCounter *);
void mono_counters_on_register(MonoCounterRegisterCallback callback);
void mono_counters_dump(int section_mask, FILE *outfile);
void mono_counters_cleanup(void);
typedef mono_bool (*CountersEnumCallback) (MonoCounter *counter, void *user_data);
void mono_counters_foreach(CountersEnumCallback cb, void *user_data);
int mono_counters_sample(MonoCounter *counter, void *buffer, int buffer_size);
const char *mono_counter_get_name(MonoCounter *name);
int mono_counter_get_type(MonoCounter *counter);
int mono_counter_get_section(MonoCounter *counter);
int mono_counter_get_unit(MonoCounter *counter);
int mono_counter_get_variance(MonoCounter *counter);
size_t mono_counter_get_size(MonoCounter *counter);
typedef enum {
    MONO_RESOURCE_JIT_CODE,
    MONO_RESOURCE_METADATA,
    MONO_RESOURCE_GC_HEAP,
    MONO_RESOURCE_COUNT,
} MonoResourceType;
typedef void (*MonoResourceCallback) (int resource_type, uintptr_t value, int is_soft);
int mono_runtime_resource_limit(int resource_type, uintptr_t soft_limit, uintptr_t hard_limit);
void mono_runtime_resource_set_callback(MonoResourceCallback callback);
void mono_runtime_resource_check_limit(int resource_type, uintptr_t value);
enum {
    MONO_DL_EAGER = 0,
    MONO_DL_LAZY = 1,
    MONO_DL_LOCAL = 2,
    MONO_DL_MASK = 3,
};
typedef struct MonoDlFallbackHandler MonoDlFallbackHandler;
typedef void *(*MonoDlFallbackLoad) (const char *name, int flags, char * *err, void *user_data);
typedef void *(*MonoDlFallbackSymbol) (void *handle, const char *name, char * *err, void *user_data);
typedef void *(*MonoDlFallbackClose) (void *handle, void *user_data);
MonoDlFallbackHandler *mono_dl_fallback_register(MonoDlFallbackLoad load_func, MonoDlFallbackSymbol symbol_func, MonoDlFallbackClose close_func, void *user_data);
void mono_dl_fallback_unregister(MonoDlFallbackHandler *handler);
void mono_trace_set_level_string(const char *value);
void mono_trace_set_mask_string(const char *value);
typedef void (*MonoPrintCallback) (const char *string, mono_bool is_stdout);
typedef void (*MonoLogCallback) (const char *log_domain, const char *log_level, const char *message, mono_bool fatal, void *user_data);
void mono_trace_set_log_handler(MonoLogCallback callback, void *user_data);
void mono_trace_set_print_handler(MonoPrintCallback callback);
void mono_trace_set_printerr_handler(MonoPrintCallback callback);

MONO_END_DECLS

#endif
